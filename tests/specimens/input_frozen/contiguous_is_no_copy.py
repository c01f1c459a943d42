"""`ascontiguousarray` copies only what is not contiguous, and a caller's array is.
The service is safe in the tests that pass slices, and not with whole frames.
The twin makes a copy of everything.
"""

from pathlib import Path
from runpy import run_path

import numpy as np

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "input-frozen"
SCENARIOS = ("input-overwritten",)


class Contiguous(BoundedQueue):
    def take_over(self, inputs):
        return {name: np.ascontiguousarray(array) for name, array in inputs.items()}


class Copied(BoundedQueue):
    def take_over(self, inputs):
        return {name: np.array(array) for name, array in inputs.items()}


specimen, twin = Contiguous, Copied
