"""The callers that share a run get the same arrays, which any of them may write to.
One scales its scores in place, and the others find them scaled.
The twin gives each caller a copy.
"""

from concurrent.futures import InvalidStateError
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "output-owned"
SCENARIOS = ("result-written-to",)


class Sharing(ContractQueue):
    def settle(self, future, outputs, error):
        if error is not None:
            future.end(error)
            return
        try:
            future.set_result(outputs)
        except InvalidStateError:
            return


specimen, twin = Sharing, ContractQueue
