"""`cancel()` answers True for a running task as well, and does nothing about it.
A user who cancelled a request gets its answer all the same.
The twin answers False for what it cannot stop.
"""

from concurrent.futures import Future
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "no-delivery-after-cancel"
SCENARIOS = ("cancel-while-running",)


class Yes(Future):
    def cancel(self):
        super().cancel()
        return True


class YesQueue(BoundedQueue):
    def make_future(self):
        return Yes()


specimen, twin = YesQueue, BoundedQueue
