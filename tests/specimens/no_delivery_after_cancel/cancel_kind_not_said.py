"""The service declares that it cancels running tasks, and never says which kind of cancel a task got.
A user cannot tell whether the device still works on the request.
The twin's futures say `queued` or `running`.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
RunningCancelFuture = parts["RunningCancelFuture"]
CancellingQueue = parts["CancellingQueue"]

INVARIANT = "no-delivery-after-cancel"
SCENARIOS = ("running-cancel",)


class Unsaid(RunningCancelFuture):
    @property
    def cancel_kind(self):
        return None

    @cancel_kind.setter
    def cancel_kind(self, kind):
        pass


class UnsaidQueue(CancellingQueue):
    def make_future(self):
        return Unsaid()


specimen, twin = UnsaidQueue, CancellingQueue
