"""A wait that times out raises the service's own error, which says that the request failed.
The user is told FAILED, and a moment later the same task SUCCEEDED.
The twin raises TimeoutError, which says that it is still under way.
"""

from concurrent.futures import Future
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "terminal-once"
SCENARIOS = ("wait-timeout",)


class RequestFailedError(Exception):
    pass


class Failing(Future):
    def result(self, timeout=None):
        try:
            return super().result(timeout)
        except TimeoutError:
            raise RequestFailedError from None


class FailingQueue(BoundedQueue):
    def make_future(self):
        return Failing()


specimen, twin = FailingQueue, BoundedQueue
