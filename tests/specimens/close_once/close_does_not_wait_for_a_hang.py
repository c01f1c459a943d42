"""`close` gives the worker five seconds, which is enough as long as every release returns.
With a driver that hangs it says that all is released, and the application loads the next model.
The twin waits as long as it takes.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "close-once"
SCENARIOS = ("close-hang",)


class Impatient(BoundedQueue):
    def close(self):
        with self.changed:
            self.closing = True
            self.changed.notify_all()
        for thread in self.threads:
            thread.join(timeout=5.0)


specimen, twin = Impatient, BoundedQueue
