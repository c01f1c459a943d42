"""The future names the version that the service has when the result is there, or is asked for.
A result that the old model made is shown, and logged, as the new one's.
The twin names what the task ran on.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "switch_parts.py"))
SwitchingQueue = parts["SwitchingQueue"]

INVARIANT = "one-version"
SCENARIOS = ("switch-under-load",)


class Early(SwitchingQueue):
    def place(self, switch):
        super().place(switch)
        self.version = switch.version


specimen, twin = Early, SwitchingQueue
