"""After three failures in a row the worker takes the device for dead and leaves.
Whoever submits then waits for ever.
The twin goes on failing what comes.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "terminal-once"
SCENARIOS = ("persistent-run-failure",)


class Leaving(BoundedQueue):
    def serve(self, session):
        failures = 0
        while failures < 3 and (task := self.take()) is not None:
            self.run(session, *task)
            failures = failures + 1 if task[1].exception() is not None else 0
        self.release(session)


specimen, twin = Leaving, BoundedQueue
