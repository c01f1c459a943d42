"""The cancel runs the callbacks, and so does the worker that finds the task cancelled.
What a callback counts or frees is counted and freed twice.
The twin runs them once.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "callback-safe"
SCENARIOS = ("cancel-callback-waits-for-another-client",)


class Twice(ContractQueue):
    def run(self, session, request):
        for future in request.callers:
            if future.cancelled():
                future._invoke_callbacks()
        super().run(session, request)


specimen, twin = Twice, ContractQueue
