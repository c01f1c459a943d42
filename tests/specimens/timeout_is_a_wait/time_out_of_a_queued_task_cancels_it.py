"""A wait that times out takes its task out of the queue if it has not started.
Under load whoever polls with a short time-out never gets an answer.
The twin leaves it in its place.
"""

from concurrent.futures import Future
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "timeout-is-a-wait"
SCENARIOS = ("queued-wait-timeout",)


class Impatient(Future):
    def result(self, timeout=None):
        try:
            return super().result(timeout)
        except TimeoutError:
            self.gave_up = self.cancel()
            raise


class ImpatientQueue(BoundedQueue):
    def make_future(self):
        return Impatient()


specimen, twin = ImpatientQueue, BoundedQueue
