"""Slots are counted when they open, and nobody counts them down.
What leaks contexts cannot be told from what does not.
The twin counts the release.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "observable_parts.py"))
ObservableQueue = parts["ObservableQueue"]

INVARIANT = "counters-true"
SCENARIOS = ("counters-add-up",)


class Opened(ObservableQueue):
    def release(self, session):
        super().release(session)
        self.open += 1


specimen, twin = Opened, ObservableQueue
