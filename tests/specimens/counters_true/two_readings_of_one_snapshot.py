"""The tasks that wait are read, and then, once more under the lock, those that run.
One that starts in between is in both, or in neither.
The twin reads all of it at once.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "observable_parts.py"))
ObservableQueue = parts["ObservableQueue"]

INVARIANT = "counters-true"
SCENARIOS = ("counters-while-tasks-come-and-go",)


class Torn(ObservableQueue):
    def counters(self):
        with self.changed:
            waiting = self.depth()
        told = super().counters()
        told.waiting = waiting
        return told


specimen, twin = Torn, ObservableQueue
