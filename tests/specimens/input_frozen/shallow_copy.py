"""The dictionary of inputs is copied, and the arrays in it are not.
It looks like a copy in review, and a caller that reuses its array changes what runs.
The twin copies the arrays.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "input-frozen"
SCENARIOS = ("input-overwritten",)


class Shallow(BoundedQueue):
    def take_over(self, inputs):
        return dict(inputs)


specimen, twin = Shallow, BoundedQueue
