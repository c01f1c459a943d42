"""The bound is compared with `>` where `>=` is meant.
One more request waits than was provided for.
The twin refuses when the bound is reached.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
ClosedError = parts["ClosedError"]
FullError = parts["FullError"]
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "capacity"
SCENARIOS = ("queue-full",)


class OneMore(BoundedQueue):
    def admit(self):
        if self.closing:
            raise ClosedError
        if len(self.waiting) > self.capacity:
            raise FullError


specimen, twin = OneMore, BoundedQueue
