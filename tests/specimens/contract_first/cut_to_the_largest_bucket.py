"""A request that is too large is cut to the largest shape that was planned for, and answered.
The client is told nothing of the rows that are missing.
The twin refuses it.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "shape_parts.py"))
ShapedQueue = parts["ShapedQueue"]

INVARIANT = "contract-first"
SCENARIOS = ("shape-out-of-range",)
MODEL = "builtin:rows"


class Cutting(ShapedQueue):
    def check(self, inputs):
        pass

    def take_over(self, inputs):
        most = self.served.most if self.served else {}
        cut = {name: tuple(slice(size) for size in most.get(name, ())) for name in inputs}
        return {name: array[cut[name]].copy() for name, array in inputs.items()}


specimen, twin = Cutting, ShapedQueue
