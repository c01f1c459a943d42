"""Inputs are cast to the type that the model wants, whatever they came as.
A caller's mistake becomes an answer that looks right and is not.
The twin leaves inputs as they are, and the adapter refuses them.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "contract-first"
SCENARIOS = ("malformed-input",)


class Casting(BoundedQueue):
    def take_over(self, inputs):
        return {name: array.astype(array.dtype.newbyteorder("=")) for name, array in inputs.items()}


specimen, twin = Casting, BoundedQueue
