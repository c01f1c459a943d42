"""Requests whose client has given up still occupy every session, and more are taken.
The queue fills with what nobody can serve, and nobody is told.
The twin refuses until a session has come back.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "capacity"
SCENARIOS = ("abandoned-runs",)


class UnhealthyError(Exception):
    refusal = "unhealthy"


class PilingUp(ContractQueue):
    capabilities = ContractQueue.capabilities | {"unhealthy"}
    running = None

    @property
    def health(self):
        return "healthy"

    def run(self, session, request):
        self.running = request
        super().run(session, request)
        self.running = None


class Refusing(PilingUp):
    @property
    def health(self):
        running = self.running
        return "unhealthy" if running is not None and running.callers[0].done() else "healthy"

    def admit_request(self, request, rules, timeout):
        if self.health == "unhealthy":
            raise UnhealthyError
        return super().admit_request(request, rules, timeout)


specimen, twin = PilingUp, Refusing
