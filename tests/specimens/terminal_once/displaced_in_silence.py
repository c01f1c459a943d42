"""The oldest waiting request makes room for the newest, and nobody tells its client.
The user of the first request waits for ever.
The twin ends it as REPLACED.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]

INVARIANT = "terminal-once"
SCENARIOS = ("replace-oldest", "keep-latest")


class Silent(ContractQueue):
    def displace(self, request):
        pass


specimen, twin = Silent, ContractQueue
