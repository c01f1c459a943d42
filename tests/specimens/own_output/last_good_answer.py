"""An answer that cannot be right is replaced by the last good one, so that the picture does not flicker.
In a queue that is somebody else's answer.
The twin hands on what the runtime gave.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "own-output"
SCENARIOS = (
    "nan-output",
    "wrong-output",
)


class Smoothing(BoundedQueue):
    def prepare(self):
        self.good = None

    def run(self, session, inputs, future):
        if not future.set_running_or_notify_cancel():
            return
        outputs = session.run(inputs)
        if all(((array >= 0) & (array <= 1)).all() for array in outputs.values()):
            self.good = {name: array.copy() for name, array in outputs.items()}
        future.set_result({name: array.copy() for name, array in (self.good or outputs).items()})


specimen, twin = Smoothing, BoundedQueue
