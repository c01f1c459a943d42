"""An urgent request joins an equal one, and waits where that stands in the line.
What is less urgent starts before it.
The twin brings the run forward that they share.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "order"
SCENARIOS = ("priority-of-one-that-joined",)


class Waits(ContractQueue):
    def join(self, joined, request):
        joined.callers += request.callers


specimen, twin = Waits, ContractQueue
