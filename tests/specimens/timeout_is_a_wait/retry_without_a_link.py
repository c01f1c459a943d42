"""A retry is a new task, and nothing says of which.
Whoever reads the log counts two users.
The twin keeps the link.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "timeout-is-a-wait"
SCENARIOS = ("retry-is-a-new-task",)


class Unlinked(ContractQueue):
    def submit(self, inputs, *, retry_of=None, **options):
        return super().submit(inputs, **options)


specimen, twin = Unlinked, ContractQueue
