"""A task's events are written when its call has returned, all at once, which is cheap.
One that was cancelled in the queue never was in it, to read the ring.
The twin writes each when it happens.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "observable_parts.py"))
ObservableQueue = parts["ObservableQueue"]

INVARIANT = "evidence-true"
SCENARIOS = ("wait-in-vain-leaves-its-evidence",)


class AtTheReturn(ObservableQueue):
    def write(self, kind, future, slot=None, detail=None):
        if kind == "accepted":
            return
        if kind == "returned":
            super().write("accepted", future)
        super().write(kind, future, slot, detail)


specimen, twin = AtTheReturn, ObservableQueue
