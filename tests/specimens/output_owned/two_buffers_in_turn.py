"""Two output buffers take turns, since nobody keeps more than the last answer.
A user who keeps two sees the first one change.
The twin delivers an array of the task's own.
"""

import itertools
from pathlib import Path
from runpy import run_path

import numpy as np

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]
settle = parts["settle"]

INVARIANT = "output-owned"
SCENARIOS = ("outputs-kept",)


class DoubleBuffered(BoundedQueue):
    def prepare(self):
        self.buffers = itertools.cycle([{}, {}])

    def run(self, session, inputs, future):
        if future.set_running_or_notify_cancel():
            settle(future, self.infer, session, inputs)

    def infer(self, session, inputs):
        buffers = next(self.buffers)
        for name, array in session.run(inputs).items():
            np.copyto(buffers.setdefault(name, np.empty_like(array)), array)
        return dict(buffers)


specimen, twin = DoubleBuffered, BoundedQueue
