"""The client is told that its request expired, and the request is run all the same.
The device works for nobody, and what waits behind it is late as well.
The twin does not start it.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "expires-on-time"
SCENARIOS = ("deadline-while-waiting",)


class Running(ContractQueue):
    def run(self, session, request):
        if all(future.done() and not future.cancelled() for future in request.callers):
            session.run(request.inputs)
            return
        super().run(session, request)


specimen, twin = Running, ContractQueue
