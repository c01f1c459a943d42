"""Two workers have a session each, and one lock around every run.
While one run hangs nobody is served at all.
The twin locks nothing: a session has one worker.
"""

import threading
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "fault-contained"
SCENARIOS = ("run-hang",)
SLOTS = 2


class Pool(BoundedQueue):
    workers = 2


class Locked(Pool):
    def prepare(self):
        self.running = threading.Lock()

    def run(self, session, inputs, future):
        with self.running:
            super().run(session, inputs, future)


specimen, twin = Locked, Pool
