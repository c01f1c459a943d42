"""`submit` looks for room, then copies the input, then appends: the room may be gone by then.
Clients that come together overfill the queue.
The twin looks again under the lock under which it appends.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
ClosedError = parts["ClosedError"]
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "capacity"
SCENARIOS = ("crowd-at-a-full-queue",)


class Unlocked(BoundedQueue):
    def submit(self, inputs):
        with self.changed:
            self.admit()
        taken, future = self.take_over(inputs), self.make_future()
        with self.changed:
            if self.closing:
                raise ClosedError
            self.waiting.append((taken, future))
            self.changed.notify()
        return future


specimen, twin = Unlocked, BoundedQueue
