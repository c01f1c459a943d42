"""The deadline is given in seconds and taken for milliseconds.
A request that may take a minute expires at once.
The twin counts in seconds.
"""

import time
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "expires-on-time"
SCENARIOS = ("expiry-races-completion",)


class Early(ContractQueue):
    def watch(self, due, future):
        now = time.monotonic()
        super().watch(now + (due - now) / 1000, future)


specimen, twin = Early, ContractQueue
