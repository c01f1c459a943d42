"""A request is counted when it comes, and again when it joins the run of an equal one.
There seem to be more tasks than callers, and the surplus never ends.
The twin counts callers.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "observable_parts.py"))
ObservableQueue = parts["ObservableQueue"]

INVARIANT = "counters-true"
SCENARIOS = ("counters-of-joined-requests",)


class Twice(ObservableQueue):
    def join(self, joined, request):
        super().join(joined, request)
        self.accepted += 1


specimen, twin = Twice, ObservableQueue
