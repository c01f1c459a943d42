"""Every failure is appended to a log, and the whole log is the text of the next error.
A user's error message tells of other users' requests.
The twin passes each error on by itself.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]
settle = parts["settle"]

INVARIANT = "private"
SCENARIOS = ("failing-run-with-others-waiting",)


class Logging(BoundedQueue):
    def prepare(self):
        self.log = []

    def run(self, session, inputs, future):
        if future.set_running_or_notify_cancel():
            settle(future, self.infer, session, inputs)

    def infer(self, session, inputs):
        try:
            return session.run(inputs)
        except Exception as error:  # noqa: BLE001 - as the specimen has it
            self.log.append(str(error))
            raise RuntimeError("; ".join(self.log)) from None


specimen, twin = Logging, BoundedQueue
