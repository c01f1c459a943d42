"""Cancelled tasks are taken out of a batch's futures but not out of its inputs.
Everybody behind the cancelled task gets the answer of the one before.
The twin filters the pairs.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]
settle = parts["settle"]

INVARIANT = "own-output"
SCENARIOS = ("cancel-races-completion",)


class Batching(BoundedQueue):
    def serve(self, session):
        while (first := self.take()) is not None:
            with self.changed:
                batch = [first, *self.waiting]
                self.waiting.clear()
            for inputs, future in self.live(batch):
                settle(future, session.run, inputs)
        session.close()


class Shifted(Batching):
    def live(self, batch):
        futures = [future for _, future in batch if future.set_running_or_notify_cancel()]
        return zip([inputs for inputs, _ in batch], futures, strict=False)


class Paired(Batching):
    def live(self, batch):
        return [(inputs, future) for inputs, future in batch if future.set_running_or_notify_cancel()]


specimen, twin = Shifted, Paired
