"""Closing wakes the workers, and not the clients that wait for a place.
A batch job hangs in a service that is gone.
The twin wakes them, too, and refuses.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]
FullError = parts["FullError"]

INVARIANT = "no-deadlock"
SCENARIOS = ("close-while-blocked",)


class Forgetful(ContractQueue):
    def wait_for_room(self, rules, seconds):
        if not self.changed.wait_for(lambda: not self.closing and not self.is_full(rules), seconds):
            raise FullError


specimen, twin = Forgetful, ContractQueue
