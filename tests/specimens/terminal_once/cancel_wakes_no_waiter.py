"""`cancel()` sets the state of the future and notifies nobody.
Whoever already waits for the task waits for ever, though it is CANCELLED.
The twin is the standard library's future, which notifies.
"""

from concurrent.futures import Future
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "terminal-once"
SCENARIOS = ("queued-cancel",)


class Silent(Future):
    def cancel(self):
        with self._condition:
            if self._state != "PENDING":
                return self._state.startswith("CANCELLED")
            self._state = "CANCELLED"
        return True


class Waking(Future):
    pass


class SilentQueue(BoundedQueue):
    def make_future(self):
        return Silent()


class WakingQueue(BoundedQueue):
    def make_future(self):
        return Waking()


specimen, twin = SilentQueue, WakingQueue
