"""A run that the runtime gave up after its time is taken for a wait that timed out: the answer is still to come.
It is not, and the task never ends.
The twin fails the task with what the run raised.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "terminal-once"
SCENARIOS = ("run-timeout",)


class Expecting(BoundedQueue):
    def run(self, session, inputs, future):
        if not future.set_running_or_notify_cancel():
            return
        try:
            outputs = session.run(inputs)
        except Exception as error:  # noqa: BLE001 - a failed run is its task's outcome
            if "Timeout" not in type(error).__name__:
                future.set_exception(error)
        else:
            future.set_result(outputs)


specimen, twin = Expecting, BoundedQueue
