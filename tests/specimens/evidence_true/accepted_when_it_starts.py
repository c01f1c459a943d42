"""The time of acceptance is noted when a worker takes the task.
All its waiting is gone from the evidence, and the queue looks idle.
The twin notes it in the submit.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "observable_parts.py"))
ObservableQueue = parts["ObservableQueue"]

INVARIANT = "evidence-true"
SCENARIOS = ("wait-in-vain-leaves-its-evidence",)


class Idle(ObservableQueue):
    def stamp_accepted(self, future):
        pass

    def start(self, request):
        for future in request.callers:
            super().stamp_accepted(future)
        return super().start(request)


specimen, twin = Idle, ObservableQueue
