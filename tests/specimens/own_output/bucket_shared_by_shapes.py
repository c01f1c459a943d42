"""Inputs are staged in one buffer of the largest bucket, each task in the first rows of it, until a worker comes.
Small and large tasks overwrite each other's rows while they wait.
The twin gives each task a buffer of its own, in its own shape.
"""

from pathlib import Path
from runpy import run_path

import numpy as np

parts = run_path(str(Path(__file__).parents[1] / "shape_parts.py"))
ShapedQueue = parts["ShapedQueue"]

INVARIANT = "own-output"
SCENARIOS = ("two-shapes-alternating",)
MODEL = "builtin:rows"


class OneBucket(ShapedQueue):
    def prepare(self):
        self.bucket = {}

    def take_over(self, inputs):
        taken = {}
        for name, array in inputs.items():
            room = 8 * max(1, array.size)
            buffer = self.bucket.setdefault(name, np.zeros(room, array.dtype))
            view = buffer[: array.size].reshape(array.shape)
            view[...] = array
            taken[name] = view
        return taken


specimen, twin = OneBucket, ShapedQueue
