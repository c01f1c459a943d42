"""Fair share is left to the order in which requests come: who sends more gets more.
A burst of light work that came first holds up the heavy class for as long as it lasts.
The twin looks at what each class has had.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "order"
SCENARIOS = ("fair-share-weights",)


class Arrival(ContractQueue):
    def choose_by_weight(self):
        return self.waiting[0]


specimen, twin = Arrival, ContractQueue
