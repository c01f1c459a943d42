"""A failed run is tried again. The third failure in a row is taken for the end of the device: all that waits fails.
One request that can never succeed takes those behind it along.
The twin fails the request alone.
"""

from pathlib import Path
from runpy import run_path

from adapters.base import RunError

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "fault-contained"
SCENARIOS = ("poison-request",)


class Retrying(BoundedQueue):
    def run(self, session, inputs, future):
        if not future.set_running_or_notify_cancel():
            return
        for _ in range(3):
            try:
                outputs = session.run(inputs)
            except RunError as error:
                failure = error
            else:
                future.set_result(outputs)
                return
        self.give_up(future, failure)

    def give_up(self, future, failure):
        future.set_exception(failure)


class Clearing(Retrying):
    def give_up(self, future, failure):
        with self.changed:
            waiting = list(self.waiting)
            self.waiting.clear()
        for _, other in waiting:
            if other.set_running_or_notify_cancel():
                other.set_exception(RuntimeError("the device is gone"))
        future.set_exception(failure)


specimen, twin = Clearing, Retrying
