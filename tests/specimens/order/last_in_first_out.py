"""Free workers take the task that came last.
Under load the first one waits for as long as others come.
The twin takes the first.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "order"
SCENARIOS = ("submission-order",)


class Stack(ContractQueue):
    def choose(self):
        return self.waiting[-1]


specimen, twin = Stack, ContractQueue
