"""`submit` notifies first and appends the task afterwards, in a second hold of the lock.
The worker wakes, finds nothing and sleeps again: the task waits until somebody else submits.
The twin appends and notifies in one hold.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "terminal-once"
SCENARIOS = ("hidden-state",)


class TooEarly(BoundedQueue):
    def submit(self, inputs):
        taken, future = self.take_over(inputs), self.make_future()
        with self.changed:
            self.admit()
            self.changed.notify()
        with self.changed:
            self.waiting.append((taken, future))
        return future


specimen, twin = TooEarly, BoundedQueue
