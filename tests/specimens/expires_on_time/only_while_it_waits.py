"""The deadline is taken off when a worker takes the task.
A request that has started runs for as long as the device likes.
The twin lets a running task expire, too.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]
ExpiredError = parts["ExpiredError"]

INVARIANT = "expires-on-time"
SCENARIOS = ("deadline-while-running",)


class WaitingOnly(ContractQueue):
    def watch(self, due, future):
        self.clock.at(due, lambda: future.running() or future.end(ExpiredError()))


specimen, twin = WaitingOnly, ContractQueue
