"""The worker expects the errors of the runtime's binding, and no other.
A run for which there is no memory takes the worker with it, and all that waits.
The twin takes any exception for the outcome of its task.
"""

from pathlib import Path
from runpy import run_path

from adapters.base import AdapterError

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "fault-contained"
SCENARIOS = ("allocation-failure",)


class Expecting(BoundedQueue):
    def run(self, session, inputs, future):
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(session.run(inputs))
            except AdapterError as error:
                future.set_exception(error)


specimen, twin = Expecting, BoundedQueue
