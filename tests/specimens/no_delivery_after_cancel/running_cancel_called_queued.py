"""Every cancel is reported as one of a queued task.
A user believes that the device never saw the request, and reuses what it still reads.
The twin tells the two apart.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
RunningCancelFuture = parts["RunningCancelFuture"]
CancellingQueue = parts["CancellingQueue"]

INVARIANT = "no-delivery-after-cancel"
SCENARIOS = ("running-cancel",)


class AlwaysQueued(RunningCancelFuture):
    def cancel(self):
        answer = super().cancel()
        if self.cancel_kind:
            self.cancel_kind = "queued"
        return answer


class AlwaysQueuedQueue(CancellingQueue):
    def make_future(self):
        return AlwaysQueued()


specimen, twin = AlwaysQueuedQueue, CancellingQueue
