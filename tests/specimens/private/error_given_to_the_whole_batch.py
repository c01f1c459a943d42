"""One failing run fails its whole batch with one error object.
Its text, which names one request, reaches the users of the others.
The twin fails the one task that failed.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]
settle = parts["settle"]

INVARIANT = "private"
SCENARIOS = ("failing-run-with-others-waiting",)


class Batching(BoundedQueue):
    def serve(self, session):
        while (first := self.take()) is not None:
            with self.changed:
                batch = [first, *self.waiting]
                self.waiting.clear()
            self.run_batch(session, [task for task in batch if task[1].set_running_or_notify_cancel()])
        session.close()


class Together(Batching):
    def run_batch(self, session, batch):
        try:
            outputs = [session.run(inputs) for inputs, _ in batch]
        except Exception as error:  # noqa: BLE001 - as the specimen has it
            for _, future in batch:
                future.set_exception(error)
        else:
            for (_, future), each in zip(batch, outputs, strict=True):
                future.set_result(each)


class Apart(Batching):
    def run_batch(self, session, batch):
        for inputs, future in batch:
            settle(future, session.run, inputs)


specimen, twin = Together, Apart
