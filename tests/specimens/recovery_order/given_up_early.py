"""The budget is counted in the wrong unit, so that a run is given up when a thousandth of its time is over.
What would have come in time fails.
The twin counts seconds.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "recovery_parts.py"))
RecoveringQueue = parts["RecoveringQueue"]

INVARIANT = "recovery-order"
SCENARIOS = ("watchdog-waits-for-the-device",)


class Impatient(RecoveringQueue):
    def budget(self):
        return super().budget() / 1000


specimen, twin = Impatient, RecoveringQueue
