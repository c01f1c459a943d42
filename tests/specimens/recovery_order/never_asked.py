"""A call that takes too long is left to itself: the client is told, and the runtime is never asked to end the call.
So the device works on for nobody, for as long as it likes.
The twin interrupts the session.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "recovery_parts.py"))
RecoveringQueue = parts["RecoveringQueue"]

INVARIANT = "recovery-order"
SCENARIOS = ("watchdog-waits-for-the-device",)


class Leaving(RecoveringQueue):
    def ask(self, place):
        """Let it be."""


specimen, twin = Leaving, RecoveringQueue
