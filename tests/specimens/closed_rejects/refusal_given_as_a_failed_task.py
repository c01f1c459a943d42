"""After close, `submit` accepts and hands out a future that has failed already.
A client that counts accepted requests counts one that never was, and cannot send it elsewhere in time.
The twin refuses.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
ClosedError = parts["ClosedError"]
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "closed-rejects"
SCENARIOS = ("submit-after-close",)


class Accepting(BoundedQueue):
    def submit(self, inputs):
        try:
            return super().submit(inputs)
        except ClosedError as error:
            future = self.make_future()
            future.set_exception(error)
            return future


specimen, twin = Accepting, BoundedQueue
