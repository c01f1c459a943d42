"""After a wait has timed out nobody is expected to ask again, so the worker drops the answer when it comes.
A user who asks again waits for ever.
The twin keeps the task until it has its outcome.
"""

from concurrent.futures import Future
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]
settle = parts["settle"]

INVARIANT = "timeout-is-a-wait"
SCENARIOS = ("wait-timeout",)


class Handle:
    """A future made by hand that notes who waits."""

    def __init__(self):
        self.future = Future()
        self.cancel, self.cancelled = self.future.cancel, self.future.cancelled
        self.done, self.exception = self.future.done, self.future.exception
        self.abandoned = False

    def result(self, timeout=None):
        try:
            return self.future.result(timeout)
        except TimeoutError:
            self.abandoned = True
            raise


class Service(BoundedQueue):
    def make_future(self):
        return Handle()

    def run(self, session, inputs, handle):
        if not handle.future.set_running_or_notify_cancel():
            return
        run = Future()
        settle(run, session.run, inputs)
        if not self.drops(handle):
            settle(handle.future, run.result)


class Dropping(Service):
    def drops(self, handle):
        return handle.abandoned


class Tracking(Service):
    def drops(self, handle):
        return False


specimen, twin = Dropping, Tracking
