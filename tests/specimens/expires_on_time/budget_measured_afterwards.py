"""The time that a run took is compared with its budget when it is over.
A run that never comes back is over no budget.
The twin has a watchdog.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "expires-on-time"
SCENARIOS = ("run-budget",)


class Measuring(ContractQueue):
    def limit(self, due, callers):
        pass

    def settle(self, future, outputs, error):
        super().settle(future, outputs, error)


specimen, twin = Measuring, ContractQueue
