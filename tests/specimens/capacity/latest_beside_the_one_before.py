"""A newer frame replaces the waiting one only if the queue is full.
The model then looks at a picture that is already history.
The twin keeps the latest alone.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "capacity"
SCENARIOS = ("keep-latest",)


class WhenFull(ContractQueue):
    def make_room(self, request, rules, timeout):
        same = [other for other in self.waiting if other.request_class == request.request_class]
        return same[:1] if self.is_full(rules) else []


specimen, twin = WhenFull, ContractQueue
