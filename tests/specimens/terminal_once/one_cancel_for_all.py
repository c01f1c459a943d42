"""Callers of equal requests share one run, and the first one's cancel drops it.
The others asked for nothing of the kind, and get no answer.
The twin drops the run when nobody is left.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "terminal-once"
SCENARIOS = ("coalesce",)


class FirstDecides(ContractQueue):
    def run(self, session, request):
        if request.callers[0].cancelled():
            for future in request.callers:
                future.cancel()
            return
        super().run(session, request)


specimen, twin = FirstDecides, ContractQueue
