"""The service is closed for one reason and then for another, and names the last.
What was ended for privacy's sake is counted as a shutdown.
The twin keeps the first reason.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "close-once"
SCENARIOS = ("close-because-the-page-is-closed",)


class Reasoned(ContractQueue):
    capabilities = ContractQueue.capabilities | {"close-reason"}
    close_reason = None

    def close(self, *, reason=None):
        with self.changed:
            if self.close_reason is None:
                self.close_reason = reason
        super().close()


class LastReason(Reasoned):
    def close(self, *, reason=None):
        self.close_reason = reason
        super().close(reason=reason)


specimen, twin = LastReason, Reasoned
