"""How many requests the memory allows is worked out when the service starts.
An hour later the device is full, the queue takes another frame, and the kernel ends the process.
The twin looks at every request.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "gate_parts.py"))
GatedQueue = parts["GatedQueue"]

INVARIANT = "capacity"
SCENARIOS = ("memory-pressure",)


class Once(GatedQueue):
    def prepare(self):
        self.allowed = None if self.memory is None else super().most_live()

    def most_live(self):
        return self.allowed


specimen, twin = Once, GatedQueue
