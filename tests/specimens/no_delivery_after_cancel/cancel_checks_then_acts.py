"""`cancel()` looks whether the task is done and marks it cancelled in two steps, with no lock around them.
A task that completes between the two is reported cancelled, and delivers.
The twin decides under the lock that the completion takes.
"""

import threading
from concurrent.futures import CancelledError
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]
settle = parts["settle"]

INVARIANT = "no-delivery-after-cancel"
SCENARIOS = ("cancel-races-completion",)


class Handle:
    """A future made by hand from an event and a lock."""

    def __init__(self):
        self.lock = threading.Lock()
        self.ended = threading.Event()
        self.outcome = None

    def done(self):
        return self.ended.is_set()

    def cancelled(self):
        return self.outcome is CANCELLED

    def settle(self, outcome):
        with self.lock:
            if self.outcome is None:
                self.outcome = outcome
                self.ended.set()

    def result(self, timeout=None):
        if not self.ended.wait(timeout):
            raise TimeoutError
        if self.outcome is CANCELLED:
            raise CancelledError
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome

    def exception(self, timeout=None):
        if not self.ended.wait(timeout):
            raise TimeoutError
        return self.outcome if isinstance(self.outcome, Exception) else None


class TwoSteps(Handle):
    def cancel(self):
        if self.done() and not self.cancelled():
            return False
        self.settle(CANCELLED)
        return True


class OneStep(Handle):
    def cancel(self):
        self.settle(CANCELLED)
        return self.cancelled()


class Queue(BoundedQueue):
    def run(self, session, inputs, future):
        if future.done():
            return
        try:
            future.settle(session.run(inputs))
        except Exception as error:  # noqa: BLE001 - a failed run is its task's outcome
            future.settle(error)


class Racing(Queue):
    def make_future(self):
        return TwoSteps()


class Atomic(Queue):
    def make_future(self):
        return OneStep()


CANCELLED = object()
specimen, twin = Racing, Atomic
