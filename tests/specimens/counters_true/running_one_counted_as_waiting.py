"""The depth of the queue counts the task that runs: whoever scales by it always sees a queue.
The twin counts what waits.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "observable_parts.py"))
ObservableQueue = parts["ObservableQueue"]

INVARIANT = "counters-true"
SCENARIOS = ("counters-add-up",)


class Unfinished(ObservableQueue):
    def depth(self):
        return super().depth() + (self.running is not None)


specimen, twin = Unfinished, ObservableQueue
