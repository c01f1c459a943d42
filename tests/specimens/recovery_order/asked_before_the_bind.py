"""A cancel interrupts the session of its running task, which a worker has taken and has not bound yet.
The runtime forgets that when the call begins, and the run that nobody wants goes on for ever.
The twin's worker interrupts once more what it has bound and nobody wants.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
CancellingQueue, RunningCancelFuture = parts["CancellingQueue"], parts["RunningCancelFuture"]
settle_unless_cancelled = parts["settle_unless_cancelled"]

INVARIANT = "recovery-order"
SCENARIOS = ("cancel-races-the-bind",)


class Interrupting(RunningCancelFuture):
    def __init__(self):
        super().__init__()
        self.session = None

    def cancel(self):
        cancelled, session = super().cancel(), self.session
        if cancelled and session is not None:
            session.interrupt()
        return cancelled


class Once(CancellingQueue):
    def make_future(self):
        return Interrupting()

    def run(self, session, inputs, future):
        if future.start():
            future.session = session
            settle_unless_cancelled(future, self.steps, session, inputs, future)
            future.session = None

    def steps(self, session, inputs, future):
        call = session.call(inputs)
        call.bind()
        self.bound(session, future)
        call.invoke()
        return call.fetch()

    def bound(self, session, future):
        """The call is bound."""


class OnceMore(Once):
    def bound(self, session, future):
        if future.cancelled():
            session.interrupt()


specimen, twin = Once, OnceMore
