"""Each place finds out for itself that the device was reset, at the cost of one more task.
That the first one has told so is not passed on.
The twin has the other places replace their sessions before they run again.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "recovery_parts.py"))
RecoveringPool = parts["RecoveringPool"]

INVARIANT = "recovery-order"
SCENARIOS = ("device-reset-spares-the-idle",)
SLOTS = 2


class Isolated(RecoveringPool):
    def alarm(self, place):
        """It is that place's own affair."""


specimen, twin = Isolated, RecoveringPool
