"""After a wait has timed out, the next submit is taken for its retry and gets the same future back.
The retry is given the answer of the call that was given up.
The twin makes a new task of every submit.
"""

from concurrent.futures import Future
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]
settle_unless_cancelled = parts["settle_unless_cancelled"]

INVARIANT = "own-output"
SCENARIOS = ("wait-timeout",)


class Remembered(Future):
    timed_out = False

    def result(self, timeout=None):
        try:
            return super().result(timeout)
        except TimeoutError:
            self.timed_out = True
            raise


class Retrying(BoundedQueue):
    def prepare(self):
        self.last = None

    def make_future(self):
        if self.last is None or not self.last.timed_out:
            self.last = Remembered()
        return self.last

    def run(self, session, inputs, future):
        settle_unless_cancelled(future, session.run, inputs)


specimen, twin = Retrying, BoundedQueue
