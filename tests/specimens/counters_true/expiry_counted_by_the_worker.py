"""A deadline ends its task when it is due, and is counted when a worker comes by.
While the worker is busy, which is when deadlines pass, none is counted.
The twin counts it with the outcome.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "observable_parts.py"))
ObservableQueue = parts["ObservableQueue"]

INVARIANT = "counters-true"
SCENARIOS = ("expiry-leaves-its-evidence",)


class Afterwards(ObservableQueue):
    def prepare(self):
        super().prepare()
        self.uncounted = 0

    def count_expired(self, future):
        self.uncounted += 1

    def finish(self, request, outputs, error):
        super().finish(request, outputs, error)
        self.expired, self.uncounted = self.expired + self.uncounted, 0


specimen, twin = Afterwards, ObservableQueue
