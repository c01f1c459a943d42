"""The queue has one bound for all, whatever its classes say.
Background work takes the places that the user interface counts on.
The twin keeps to both bounds.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "capacity"
SCENARIOS = ("class-capacity",)


class OneBound(ContractQueue):
    def is_full(self, rules):
        return len(self.waiting) >= self.capacity


specimen, twin = OneBound, ContractQueue
