"""An input with too few values is filled up with zeros.
A truncated recording gets an answer instead of an error.
The twin passes it on as it is.
"""

from pathlib import Path
from runpy import run_path

import numpy as np

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "contract-first"
SCENARIOS = ("every-kind-of-malformed-input",)


class Padding(BoundedQueue):
    def run(self, session, inputs, future):
        super().run(session, {spec.name: self.fit(spec, inputs) for spec in session.contract.inputs}, future)

    def fit(self, spec, inputs):
        array = inputs.get(spec.name)
        if array is None or array.ndim != 1:
            return array
        padded = np.zeros(spec.shape, array.dtype)
        padded.flat[: array.size] = array
        return padded


specimen, twin = Padding, BoundedQueue
