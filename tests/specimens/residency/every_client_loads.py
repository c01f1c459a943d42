"""Each part of the application opens the model for itself.
Two of them need twice the memory, and the second start is as slow as the first.
The twin shares the queue, and with it the session.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "resident_parts.py"))
ResidentQueue = parts["ResidentQueue"]

INVARIANT = "residency"
SCENARIOS = ("two-clients-of-one-model",)


class Alone(ResidentQueue):
    def find(self, config):
        return parts["Shared"]()


specimen, twin = Alone, ResidentQueue
