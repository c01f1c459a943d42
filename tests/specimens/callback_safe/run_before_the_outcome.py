"""The callbacks are run a moment before the outcome is set.
A callback that asks for the result waits for itself.
The twin sets the outcome first.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "callback-safe"
SCENARIOS = ("callback-reenters",)


class Hasty(ContractQueue):
    def settle(self, future, outputs, error):
        callbacks, future._done_callbacks = future._done_callbacks, []
        for callback in callbacks:
            callback(future)
        super().settle(future, outputs, error)


specimen, twin = Hasty, ContractQueue
