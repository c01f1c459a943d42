"""A request counts until its future is done: a cancelled one makes room at once.
Its run goes on inside native code, in memory that has been promised to the next one.
The twin counts it until the native call has returned.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "gate_parts.py"))
GatedQueue = parts["GatedQueue"]

INVARIANT = "capacity"
SCENARIOS = ("memory-of-a-cancelled-run",)


class Early(GatedQueue):
    def ended(self, future):
        self.free(future)


specimen, twin = Early, GatedQueue
