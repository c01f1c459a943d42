"""Answers are copied into one buffer of the session, and that buffer is delivered.
A user who keeps an answer sees it change with the next task.
The twin delivers an array of the task's own.
"""

from pathlib import Path
from runpy import run_path

import numpy as np

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]
settle = parts["settle"]

INVARIANT = "output-owned"
SCENARIOS = ("outputs-kept",)


class Reusing(BoundedQueue):
    def prepare(self):
        self.buffers = {}

    def run(self, session, inputs, future):
        if future.set_running_or_notify_cancel():
            settle(future, self.infer, session, inputs)

    def infer(self, session, inputs):
        for name, array in session.run(inputs).items():
            np.copyto(self.buffers.setdefault(name, np.empty_like(array)), array)
        return dict(self.buffers)


specimen, twin = Reusing, BoundedQueue
