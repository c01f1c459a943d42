"""`close` waits for its worker for a second, and returns whatever came of that.
With a slow model it returns while the call is still running.
The twin waits as long as it takes.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "close-once"
SCENARIOS = ("close-during-run",)


class Impatient(BoundedQueue):
    def close(self):
        with self.changed:
            self.closing = True
            self.changed.notify_all()
        for thread in self.threads:
            thread.join(timeout=1.0)


specimen, twin = Impatient, BoundedQueue
