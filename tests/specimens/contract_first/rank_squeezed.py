"""Axes of length one are squeezed and added until the shape fits.
A batch of one is mistaken for an image, and the caller never learns that it sent the wrong thing.
The twin leaves the shape alone.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "contract-first"
SCENARIOS = ("malformed-input",)


class Squeezing(BoundedQueue):
    def run(self, session, inputs, future):
        shapes = {spec.name: spec.shape for spec in session.contract.inputs}
        fitted = {name: array.reshape(shapes[name]) if array.ndim > 2 else array for name, array in inputs.items()}
        super().run(session, fitted, future)


specimen, twin = Squeezing, BoundedQueue
