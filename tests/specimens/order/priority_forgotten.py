"""The queue is configured for priorities and takes tasks in the order of their coming.
The user's request waits behind a flood of background work.
The twin takes the most urgent.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "order"
SCENARIOS = ("flood-of-low-priority", "priority-inversion")


class Forgetful(ContractQueue):
    def choose(self):
        return self.waiting[0]


specimen, twin = Forgetful, ContractQueue
