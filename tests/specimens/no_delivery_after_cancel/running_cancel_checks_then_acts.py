"""A running cancel looks whether the task is done, and then, with the lock let go in between, marks it as cancelled.
A call that returns between the two has delivered: its client has the result and is told that there is none.
The twin looks and marks under one lock.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
CancellingQueue, RunningCancelFuture = parts["CancellingQueue"], parts["RunningCancelFuture"]

INVARIANT = "no-delivery-after-cancel"
SCENARIOS = ("cancel-races-completion",)


class TwoSteps(RunningCancelFuture):
    def cancel(self):
        if self.done():
            return self.cancelled()
        with self._condition:
            self.cancel_kind = "queued" if self._state == "PENDING" else "running"
            self._state = "CANCELLED_AND_NOTIFIED"
            for waiter in self._waiters:
                waiter.add_cancelled(self)
            self._condition.notify_all()
        return True


class Racing(CancellingQueue):
    def make_future(self):
        return TwoSteps()


specimen, twin = Racing, CancellingQueue
