"""A run has the deadline of the request that it was made for, and the others share that as well.
Whoever joined, and has all the time in the world, is told that it is over.
The twin keeps a deadline for each caller.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "terminal-once"
SCENARIOS = ("deadline-of-one-that-joined",)


class Shared(ContractQueue):
    def join(self, joined, request):
        joined.callers += request.callers


specimen, twin = Shared, ContractQueue
