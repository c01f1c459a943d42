"""A worker waits until two tasks are there, since a batch of two is cheaper than two of one.
A single user waits for ever.
The twin runs what is there.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "no-deadlock"
SCENARIOS = ("hidden-state",)


class Batching(BoundedQueue):
    def take(self):
        with self.changed:
            while len(self.waiting) < self.batch and not self.closing:
                self.changed.wait()
            return self.waiting.popleft() if self.waiting else None


class Full(Batching):
    batch = 2


class Any(Batching):
    batch = 1


specimen, twin = Full, Any
