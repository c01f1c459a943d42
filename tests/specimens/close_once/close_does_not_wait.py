"""`close` tells the worker to end and returns without waiting for it.
The session is still open, perhaps running, when the caller believes it gone.
The twin joins the worker.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "close-once"
SCENARIOS = ("close-twice",)


class Hurried(BoundedQueue):
    def close(self):
        with self.changed:
            self.closing = True
            self.changed.notify_all()


specimen, twin = Hurried, BoundedQueue
