"""A wait that times out marks its task cancelled.
A user who only looked whether the answer was there has thrown it away.
The twin lets the task be.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
RunningCancelFuture = parts["RunningCancelFuture"]
CancellingQueue = parts["CancellingQueue"]

INVARIANT = "timeout-is-a-wait"
SCENARIOS = ("wait-timeout",)


class GivesUp(RunningCancelFuture):
    def result(self, timeout=None):
        try:
            return super().result(timeout)
        except TimeoutError:
            with self._condition:
                self._state = "CANCELLED_AND_NOTIFIED"
            raise TimeoutError from None


class GivesUpQueue(CancellingQueue):
    def make_future(self):
        return GivesUp()


specimen, twin = GivesUpQueue, CancellingQueue
