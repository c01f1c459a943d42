"""Everybody is admitted up to the upper watermark, and nobody beyond.
What is admitted just below it has not allocated yet, and then it does, all at once.
The twin admits fewer and fewer on the way there.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "gate_parts.py"))
GatedQueue = parts["GatedQueue"]

INVARIANT = "capacity"
SCENARIOS = ("memory-sheds-the-queue",)


class Cliff(GatedQueue):
    def most_live(self):
        reading = self.memory.read()
        return self.rules.most_live if reading.used < self.rules.high * reading.limit else 0


specimen, twin = Cliff, GatedQueue
