"""The heap is turned round: what has most time left starts first.
What is urgent expires in the queue.
The twin takes what is due first.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "order"
SCENARIOS = ("earliest-deadline",)


class Latest(ContractQueue):
    def choose(self):
        return max(self.waiting, key=lambda request: request.due)


specimen, twin = Latest, ContractQueue
