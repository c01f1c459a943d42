"""The switch goes ahead of the tasks that wait, and they run on whatever is loaded then.
A request that was made for one model is answered by another.
The twin puts it behind them.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "switch_parts.py"))
SwitchingQueue = parts["SwitchingQueue"]

INVARIANT = "one-version"
SCENARIOS = ("switch-under-load",)


class Overtaking(SwitchingQueue):
    def place(self, switch):
        self.waiting.appendleft((switch, switch.done))


specimen, twin = Overtaking, SwitchingQueue
