"""Classes take turns, whatever they weigh.
The background sync has every second start, and the picture that the user waits for the other.
The twin shares the starts by weight.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "order"
SCENARIOS = ("fair-share-weights",)


class InTurn(ContractQueue):
    last = None

    def choose_by_weight(self):
        others = [request for request in self.waiting if request.request_class != self.last]
        chosen = (others or self.waiting)[0]
        self.last = chosen.request_class
        return chosen


specimen, twin = InTurn, ContractQueue
