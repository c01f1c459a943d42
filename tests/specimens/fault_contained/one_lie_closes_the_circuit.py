"""Outputs of the wrong size, or with NaN in them, open a circuit breaker, and whoever comes next gets an error.
One bad answer fails a good request.
The twin fails the request whose answer was bad.
"""

from pathlib import Path
from runpy import run_path

import numpy as np

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "fault-contained"
SCENARIOS = (
    "nan-output",
    "wrong-shape",
    "truncated-output",
)


class Checking(BoundedQueue):
    def prepare(self):
        self.broken = False

    def run(self, session, inputs, future):
        if not future.set_running_or_notify_cancel():
            return
        if self.broken:
            self.broken = False
            future.set_exception(RuntimeError("the circuit is open"))
            return
        outputs = session.run(inputs)
        good = all(
            array.shape == spec.shape and not np.isnan(array).any()
            for array, spec in zip(outputs.values(), session.contract.outputs, strict=True)
        )
        if good:
            future.set_result(outputs)
        else:
            self.refuse(future)

    def refuse(self, future):
        future.set_exception(RuntimeError("the answer is no answer"))


class Breaking(Checking):
    def refuse(self, future):
        self.broken = True
        super().refuse(future)


specimen, twin = Breaking, Checking
