"""`cancel()` of a running task answers False, remembers the wish, and the worker honours it at the end.
A user who was told that the task completes gets CANCELLED.
The twin lets a task complete whose cancel it refused.
"""

from concurrent.futures import CancelledError, Future
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "no-delivery-after-cancel"
SCENARIOS = ("cancel-while-running",)


class Wish(Future):
    wished = False

    def cancel(self):
        self.wished = True
        return super().cancel()


class Belated(BoundedQueue):
    def make_future(self):
        return Wish()

    def run(self, session, inputs, future):
        if not future.set_running_or_notify_cancel():
            return
        outputs = session.run(inputs)
        if future.wished:
            future.set_exception(CancelledError())
        else:
            future.set_result(outputs)


specimen, twin = Belated, BoundedQueue
