"""The worker does not wait for an interrupt that is under way: its session takes the next task meanwhile.
So the interrupt of the call that took too long ends the run of somebody who is in time.
The twin takes nothing until the interrupt has arrived, and then replaces the session.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "recovery_parts.py"))
RecoveringQueue = parts["RecoveringQueue"]

INVARIANT = "recovery-order"
SCENARIOS = ("watchdog-ends-a-hang", "watchdog-waits-for-the-device")


class Overtaking(RecoveringQueue):
    def returned(self, place):
        with self.changed:
            place.open = False

    def after_time_out(self, place):
        """The session is taken to be as good as before."""


specimen, twin = Overtaking, RecoveringQueue
