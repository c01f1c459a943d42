"""A retry of a request that is still running is given the future of that request.
Cancelling the first one cancels the retry.
The twin makes a new task with a link to the first.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "timeout-is-a-wait"
SCENARIOS = ("retry-is-a-new-task",)


class Same(ContractQueue):
    def submit(self, inputs, *, retry_of=None, **options):
        if retry_of is not None and not retry_of.done():
            return retry_of
        return super().submit(inputs, **options)


specimen, twin = Same, ContractQueue
