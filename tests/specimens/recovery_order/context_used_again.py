"""A call that took too long has returned after all, and its session goes on as if nothing had happened.
What the device still has of it is the next task's.
The twin replaces the session.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "recovery_parts.py"))
RecoveringQueue = parts["RecoveringQueue"]

INVARIANT = "recovery-order"
SCENARIOS = ("watchdog-waits-for-the-device", "watchdog-ends-a-hang")


class Trusting(RecoveringQueue):
    def after_time_out(self, place):
        """It came back, so all is well."""


specimen, twin = Trusting, RecoveringQueue
