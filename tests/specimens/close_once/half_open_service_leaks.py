"""The second session does not open, the constructor raises, and the first session is forgotten.
An application that tries again until it works runs out of memory.
The twin closes what was open and raises then.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "close-once"
SCENARIOS = ("session-open-failure",)
SLOTS = 2


class Forgetful(BoundedQueue):
    workers = 2

    def open_sessions(self, open_session):
        return [open_session() for _ in range(self.workers)]


class Tidy(BoundedQueue):
    workers = 2


specimen, twin = Forgetful, Tidy
