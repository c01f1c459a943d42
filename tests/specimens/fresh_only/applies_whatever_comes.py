"""The search box shows every answer when it comes.
The answer to an older text replaces what the user has asked for since.
The twin applies only what is not older than the last keystroke.
"""

from pathlib import Path
from runpy import run_path

from harness.service.freshness import FreshSubscriber

parts = run_path(str(Path(__file__).parents[1] / "switch_parts.py"))
SwitchingQueue = parts["SwitchingQueue"]

INVARIANT = "fresh-only"
SCENARIOS = ("search-box",)


class Everything(FreshSubscriber):
    def expect(self, context):
        pass


class Showing(SwitchingQueue):
    subscriber = Everything


specimen, twin = Showing, SwitchingQueue
