"""Of the callers that share a run the first gets the arrays, and copies for the others are made afterwards.
If the first one is quick to write into its own, the copies are of what it wrote.
The twin copies before it tells anybody.
"""

from concurrent.futures import InvalidStateError
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "own-output"
SCENARIOS = ("result-written-to",)


class CopyingLate(ContractQueue):
    told = None

    def settle(self, future, outputs, error):
        if error is not None:
            future.end(error)
            return
        # Copies are for those who come after the first.
        mine = {name: array.copy() for name, array in outputs.items()} if outputs is self.told else outputs
        self.told = outputs
        try:
            future.set_result(mine)
        except InvalidStateError:
            return


specimen, twin = CopyingLate, ContractQueue
