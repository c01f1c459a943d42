"""A failed run is logged, and its future is left as it is.
The user of the failed task waits for ever; everybody else is served.
The twin hands the error to the future.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "terminal-once"
SCENARIOS = ("run-failure",)


class Logging(BoundedQueue):
    def prepare(self):
        self.log = []

    def run(self, session, inputs, future):
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(session.run(inputs))
        except Exception as error:  # noqa: BLE001 - as the specimen has it
            self.log.append(type(error).__name__)


specimen, twin = Logging, BoundedQueue
