"""The newest frame ends the oldest one that has no answer yet, also if that is running.
Nothing is gained: the session is busy all the same, and the result is thrown away.
The twin replaces what waits.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "capacity"
SCENARIOS = ("replace-oldest",)


class Eager(ContractQueue):
    running = None

    def run(self, session, request):
        self.running = request
        super().run(session, request)

    def make_room(self, request, rules, timeout):
        displaced = super().make_room(request, rules, timeout)
        if displaced and self.running is not None:
            self.displace(self.running)
            self.running = None
        return displaced


specimen, twin = Eager, ContractQueue
