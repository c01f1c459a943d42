"""An incident has the evidence of the task on the slot, whoever's the error is.
One that expired in the queue looks as if it had been running.
The twin has that of the task that failed.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "observable_parts.py"))
ObservableQueue = parts["ObservableQueue"]

INVARIANT = "evidence-true"
SCENARIOS = ("expiry-leaves-its-evidence",)


class OnTheSlot(ObservableQueue):
    def freeze(self, future, kind, error):
        super().freeze(future, kind, error)
        if self.running is not None:
            self.incidents[error].evidence = self.evidence(self.running.callers[0])


specimen, twin = OnTheSlot, ObservableQueue
