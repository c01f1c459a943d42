"""A call that takes too long is its own place's affair, though a health check could be asked about the others.
What holds up one session of a device may hold up all of them.
The twin has every other place ask before it runs again.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "recovery_parts.py"))
RecoveringPool = parts["RecoveringPool"]

INVARIANT = "recovery-order"
SCENARIOS = ("time-out-has-the-neighbours-checked",)
SLOTS = 2


class Unasking(RecoveringPool):
    def have_asked(self, place):
        """Nobody is asked."""


specimen, twin = Unasking, RecoveringPool
