"""The client is told that its run takes too long, and only then is the runtime asked to end the call.
So the retry of a client that was woken is there before the device has heard of anything.
The twin asks first.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "recovery_parts.py"))
RecoveringQueue = parts["RecoveringQueue"]

INVARIANT = "recovery-order"
SCENARIOS = ("watchdog-waits-for-the-device",)


class Hasty(RecoveringQueue):
    def ask_and_tell(self, place, callers):
        self.tell(callers)
        self.ask(place)


specimen, twin = Hasty, RecoveringQueue
