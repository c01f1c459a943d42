"""A batch stops at its first failing run, and the tasks behind it in the batch are forgotten.
Their users wait for ever.
The twin guards each task of the batch by itself.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "terminal-once"
SCENARIOS = ("failing-run-with-others-waiting",)


class Batching(BoundedQueue):
    def serve(self, session):
        while (first := self.take()) is not None:
            with self.changed:
                batch = [first, *self.waiting]
                self.waiting.clear()
            self.run_batch(session, batch)
        session.close()


class Forgetful(Batching):
    def run_batch(self, session, batch):
        try:
            for inputs, future in batch:
                if future.set_running_or_notify_cancel():
                    failing = future
                    future.set_result(session.run(inputs))
        except Exception as error:  # noqa: BLE001 - a failed run is its task's outcome
            failing.set_exception(error)


class Thorough(Batching):
    def run_batch(self, session, batch):
        for inputs, future in batch:
            self.run(session, inputs, future)


specimen, twin = Forgetful, Thorough
