"""The last error is kept and raised at the start of the next run, as some runtimes' "last error" is.
A user whose request was fine is told of somebody else's.
The twin forgets an error once it has been delivered.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]
settle = parts["settle"]

INVARIANT = "private"
SCENARIOS = ("run-failure",)


class Sticky(BoundedQueue):
    def prepare(self):
        self.error = None

    def run(self, session, inputs, future):
        if future.set_running_or_notify_cancel():
            settle(future, self.infer, session, inputs)

    def infer(self, session, inputs):
        if self.error is not None:
            raise self.error
        try:
            return session.run(inputs)
        except Exception as error:
            self.error = error
            raise


specimen, twin = Sticky, BoundedQueue
