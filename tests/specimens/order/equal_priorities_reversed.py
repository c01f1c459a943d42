"""Of tasks with equal priority the one that came last starts first, as `max` with `>=` finds it.
Equal requests starve one another.
The twin keeps equals in the order of their coming.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "order"
SCENARIOS = ("flood-of-low-priority",)


class Reversed(ContractQueue):
    def choose(self):
        best = self.waiting[0]
        for request in self.waiting:
            if request.priority >= best.priority:
                best = request
        return best


specimen, twin = Reversed, ContractQueue
