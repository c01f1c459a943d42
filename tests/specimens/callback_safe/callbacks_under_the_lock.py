"""Outcomes are given while the queue's lock is held, so that nobody sees half of them.
A callback that waits for another client then waits for ever.
The twin gives them with no lock held.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "callback-safe"
SCENARIOS = ("callback-waits-for-another-client",)


class Locked(ContractQueue):
    def settle(self, future, outputs, error):
        with self.changed:
            super().settle(future, outputs, error)


specimen, twin = Locked, ContractQueue
