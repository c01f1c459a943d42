"""Answers are copied into a buffer that was allocated once, as many values as there are.
Where the runtime gives too few, the end of the answer before is still there.
The twin gives each its own array.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "own-output"
SCENARIOS = ("truncated-output",)


class Buffering(BoundedQueue):
    def prepare(self):
        self.buffers = {}

    def run(self, session, inputs, future):
        if not future.set_running_or_notify_cancel():
            return
        outputs = session.run(inputs)
        for name, array in outputs.items():
            buffer = self.buffers.setdefault(name, array.copy())
            buffer.reshape(-1)[: array.size] = array.reshape(-1)
        future.set_result({name: self.buffers[name].copy() for name in outputs})


specimen, twin = Buffering, BoundedQueue
