"""A time-out of a wait is the client's own affair, and nothing is kept of it.
What the task waited for is gone by the time that somebody asks.
The twin keeps it.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "observable_parts.py"))
ObservableQueue = parts["ObservableQueue"]

INVARIANT = "evidence-true"
SCENARIOS = ("wait-in-vain-leaves-its-evidence",)


class Silent(ObservableQueue):
    def wait_ended(self, future):
        pass


specimen, twin = Silent, ObservableQueue
