"""`close` sets the flag and does not wake the worker that waits for work.
The application hangs at exit whenever it is idle then.
The twin notifies.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "no-deadlock"
SCENARIOS = ("close-twice",)


class Silent(BoundedQueue):
    def close(self):
        with self.changed:
            self.closing = True
        for thread in self.threads:
            thread.join()


specimen, twin = Silent, BoundedQueue
