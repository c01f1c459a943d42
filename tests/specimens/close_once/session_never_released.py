"""The worker ends and leaves its session to the garbage collector.
Each service that is closed and made anew costs another session's memory.
The twin closes the session on its worker.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "close-once"
SCENARIOS = ("close-twice",)


class Leaking(BoundedQueue):
    def release(self, session):
        pass


specimen, twin = Leaking, BoundedQueue
