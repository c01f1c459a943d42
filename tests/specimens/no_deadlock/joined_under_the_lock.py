"""`close` joins the worker while it holds the lock that the worker needs to take its next task.
The application hangs at exit.
The twin joins outside the lock.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "no-deadlock"
SCENARIOS = ("close-from-two-threads",)


class Inside(BoundedQueue):
    def close(self):
        with self.changed:
            self.closing = True
            self.changed.notify_all()
            for thread in self.threads:
                thread.join()


specimen, twin = Inside, BoundedQueue
