"""Live tasks are counted down where a run delivers, and a cancel goes another way.
The gauge on the dashboard only ever climbs.
The twin counts every end.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "observable_parts.py"))
ObservableQueue = parts["ObservableQueue"]

INVARIANT = "counters-true"
SCENARIOS = ("counters-add-up",)


class Climbs(ObservableQueue):
    def count_cancelled(self):
        pass


specimen, twin = Climbs, ObservableQueue
