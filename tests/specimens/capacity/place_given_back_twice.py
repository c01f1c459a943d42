"""A place is given back when a worker takes the task and once more when the task has ended.
Every finished request makes the queue one place longer.
The twin gives it back once.
"""

import threading
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
ClosedError = parts["ClosedError"]
FullError = parts["FullError"]
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "capacity"
SCENARIOS = ("crowd-at-a-full-queue",)


class Counted(BoundedQueue):
    def prepare(self):
        self.places = threading.Semaphore(self.capacity)

    def admit(self):
        if self.closing:
            raise ClosedError
        if not self.places.acquire(blocking=False):
            raise FullError

    def take(self):
        task = super().take()
        if task is not None:
            self.places.release()
        return task


class Twice(Counted):
    def run(self, session, inputs, future):
        super().run(session, inputs, future)
        self.places.release()


specimen, twin = Twice, Counted
