"""A full queue gives the place of its youngest waiting task to the newest.
The oldest one is run, though nobody looks at it any more.
The twin replaces the oldest.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "order"
SCENARIOS = ("replace-oldest",)


class Youngest(ContractQueue):
    def make_room(self, request, rules, timeout):
        return list(self.waiting)[-1:] if self.is_full(rules) else []


specimen, twin = Youngest, ContractQueue
