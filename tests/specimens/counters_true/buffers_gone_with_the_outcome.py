"""Buffers are counted by the tasks that somebody waits for.
One that was cancelled inside its call still has them, and the figure says that the memory is free.
The twin counts what it holds.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "observable_parts.py"))
ObservableQueue = parts["ObservableQueue"]

INVARIANT = "counters-true"
SCENARIOS = ("counters-add-up",)


class ByTask(ObservableQueue):
    def held(self):
        return self.accepted - self.ended


specimen, twin = ByTask, ObservableQueue
