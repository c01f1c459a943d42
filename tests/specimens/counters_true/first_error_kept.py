"""The last error is written where there was none yet.
A week later the page still shows the failed fetch of the first hour.
The twin writes every one.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "observable_parts.py"))
ObservableQueue = parts["ObservableQueue"]

INVARIANT = "counters-true"
SCENARIOS = ("counters-add-up",)


class First(ObservableQueue):
    def note(self, error):
        if self.last_error is None:
            super().note(error)


specimen, twin = First, ObservableQueue
