"""The queue declares that the newest request replaces the oldest, and refuses it when it is full.
The user sees the answer to what was asked for before.
The twin replaces.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]
FullError = parts["FullError"]

INVARIANT = "capacity"
SCENARIOS = ("replace-oldest",)


class Refusing(ContractQueue):
    def make_room(self, request, rules, timeout):
        if self.is_full(rules):
            raise FullError
        return []


specimen, twin = Refusing, ContractQueue
