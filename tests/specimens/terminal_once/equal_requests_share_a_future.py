"""Whoever asks for what is waiting already gets the future that is there.
One caller's cancel then ends the request of all of them.
The twin gives each caller a future of its own.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "terminal-once"
SCENARIOS = ("coalesce",)


class Sharing(ContractQueue):
    def submit(self, inputs, *, key=None, **options):
        with self.changed:
            waiting = next((other for other in self.waiting if key is not None and other.key == key), None)
            if waiting is not None:
                return waiting.callers[0]
        return super().submit(inputs, key=key, **options)


specimen, twin = Sharing, ContractQueue
