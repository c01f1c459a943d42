"""A closing worker leaves at once, and the futures of the tasks that still wait are forgotten.
Their users hang when the application shuts down.
The twin runs what it accepted.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "terminal-once"
SCENARIOS = ("close-from-two-threads",)


class Dropping(BoundedQueue):
    def take(self):
        with self.changed:
            while not self.waiting and not self.closing:
                self.changed.wait()
            return None if self.closing else self.waiting.popleft()


specimen, twin = Dropping, BoundedQueue
