"""A model that does not open is logged, and the switch returns as if it had.
The release is rolled out, and every user still has the old model.
The twin raises what the opening raised.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "switch_parts.py"))
SwitchingQueue = parts["SwitchingQueue"]

INVARIANT = "one-version"
SCENARIOS = ("switch-open-failure",)


class Silent(SwitchingQueue):
    def wait_for(self, switch):
        switch.done.exception()


specimen, twin = Silent, SwitchingQueue
