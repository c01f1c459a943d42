"""Cancelling a running task closes its session, to make the device stop.
The native call is still in flight on it, and later tasks find a closed session.
The twin drops the result and lets the call return.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
RunningCancelFuture = parts["RunningCancelFuture"]
CancellingQueue = parts["CancellingQueue"]

INVARIANT = "release-after-drain"
SCENARIOS = ("running-cancel",)


class Closing(RunningCancelFuture):
    session = None

    def cancel(self):
        answer = super().cancel()
        if self.session is not None:
            self.session.close()
        return answer


class ClosingQueue(CancellingQueue):
    def make_future(self):
        return Closing()

    def run(self, session, inputs, future):
        future.session = session
        super().run(session, inputs, future)
        future.session = None


specimen, twin = ClosingQueue, CancellingQueue
