"""When one task is due the whole queue is cleared.
Requests without a deadline expire with it.
The twin ends the one that is due.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "expires-on-time"
SCENARIOS = ("deadline-while-waiting",)


class Clearing(ContractQueue):
    def watch(self, due, future):
        self.clock.at(due, self.clear)

    def clear(self):
        with self.changed:
            waiting = list(self.waiting)
            self.waiting.clear()
        for request in waiting:
            self.expire(request)


specimen, twin = Clearing, ContractQueue
