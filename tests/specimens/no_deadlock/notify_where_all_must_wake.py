"""`close` wakes one of two workers.
The other one waits for ever, and `close` waits for it.
The twin wakes all.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "no-deadlock"
SCENARIOS = ("close-twice",)
SLOTS = 2


class One(BoundedQueue):
    workers = 2

    def close(self):
        with self.changed:
            self.closing = True
            self.changed.notify()
        for thread in self.threads:
            thread.join()


class All(BoundedQueue):
    workers = 2


specimen, twin = One, All
