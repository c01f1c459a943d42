"""Shares follow the weights alone, and the floor of always-on work is not looked at.
The wake word waits until the batch is through.
The twin gives the class one start in three.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "order"
SCENARIOS = ("fair-share-floor",)


class Weights(ContractQueue):
    def choose_fairly(self):
        return self.waiting[0]


specimen, twin = Weights, ContractQueue
