"""The new session is opened before the one that failed is closed, so that there is no gap.
A device that has just failed need not have room for two.
The twin closes first.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "recovery_parts.py"))
RecoveringQueue = parts["RecoveringQueue"]

INVARIANT = "recovery-order"
SCENARIOS = ("watchdog-waits-for-the-device", "context-lost")


class Overlapping(RecoveringQueue):
    def replace(self, place):
        broken, place.session = place.session, self.open_session()
        broken.close()


specimen, twin = Overlapping, RecoveringQueue
