"""A request joins an equal one also when that is running.
The answer is that of an older picture, from before the request was made.
The twin lets it join only what waits.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "own-output"
SCENARIOS = ("coalesce-spares-what-runs",)


class Joining(ContractQueue):
    running = None

    def equal(self, request):
        running = self.running
        if running is not None and request.key is not None and running.key == request.key:
            return running
        return super().equal(request)

    def run(self, session, request):
        with self.changed:
            self.running = request
        outputs = session.run(request.inputs)
        with self.changed:
            self.running = None
        for future in request.callers:
            if future.start():
                self.settle(future, outputs, None)


specimen, twin = Joining, ContractQueue
