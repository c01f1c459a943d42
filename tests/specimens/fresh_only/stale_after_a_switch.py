"""The subscriber knows contexts and no models.
What the old model finishes after the switch is shown beside the new one's results.
The twin drops it.
"""

from pathlib import Path
from runpy import run_path

from harness.service.freshness import FreshSubscriber

parts = run_path(str(Path(__file__).parents[1] / "switch_parts.py"))
SwitchingQueue = parts["SwitchingQueue"]

INVARIANT = "fresh-only"
SCENARIOS = ("stale-model",)


class AnyModel(FreshSubscriber):
    def switched_to(self, model_version):
        pass


class Showing(SwitchingQueue):
    subscriber = AnyModel


class Honest(SwitchingQueue):
    subscriber = FreshSubscriber


specimen, twin = Showing, Honest
