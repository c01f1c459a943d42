"""The worker calls the callbacks itself, and does not expect one to raise.
One client's mistake ends the service of all.
The twin goes on.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]
EndingFuture = parts["EndingFuture"]

INVARIANT = "callback-safe"
SCENARIOS = ("callback-raises",)


class Bare(EndingFuture):
    def _invoke_callbacks(self):
        for callback in self._done_callbacks:
            callback(self)


class BareQueue(ContractQueue):
    def make_future(self):
        return Bare()


specimen, twin = BareQueue, ContractQueue
