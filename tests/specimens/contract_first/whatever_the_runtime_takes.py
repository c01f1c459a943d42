"""The runtime says which shapes it takes, and a dynamic dimension takes any.
One oversized request makes every buffer grow, and the device runs out of memory two screens later.
The twin refuses what lies outside the bounds that it was set up with.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "shape_parts.py"))
ShapedQueue = parts["ShapedQueue"]

INVARIANT = "contract-first"
SCENARIOS = ("shape-out-of-range",)
MODEL = "builtin:rows"


class Anything(ShapedQueue):
    def check(self, inputs):
        pass


specimen, twin = Anything, ShapedQueue
