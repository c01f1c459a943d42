"""The switch is noted down and carried out when the queue has run empty; the caller is told at once that it is done.
What is submitted afterwards still gets the old model.
The twin returns when the new one is in use, and puts the switch ahead of what comes later.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "switch_parts.py"))
SwitchingQueue = parts["SwitchingQueue"]

INVARIANT = "one-version"
SCENARIOS = ("switch-under-load", "two-switches")


class WhenIdle(SwitchingQueue):
    def choose(self):
        for task in self.waiting:
            if task[1].__class__.__name__ == "VersionedFuture":
                self.waiting.remove(task)
                return task
        return super().choose()

    def wait_for(self, switch):
        del switch


specimen, twin = WhenIdle, SwitchingQueue
