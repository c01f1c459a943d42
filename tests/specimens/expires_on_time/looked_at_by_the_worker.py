"""A deadline is looked at when a worker comes to the task.
While the worker is busy with another one nothing expires, and the user waits for a stuck device.
The twin has a clock of its own.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "expires-on-time"
SCENARIOS = ("deadline-while-waiting",)


class NoClock(ContractQueue):
    def watch(self, due, future):
        pass


specimen, twin = NoClock, ContractQueue
