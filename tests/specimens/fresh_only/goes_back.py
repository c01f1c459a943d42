"""Two workers finish two frames at once, and each compares its own with the last one shown before it shows it.
Both are newer than that, and the older one is shown last.
The twin decides and applies in one piece.
"""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

parts = run_path(str(Path(__file__).parents[1] / "switch_parts.py"))
SwitchingQueue = parts["SwitchingQueue"]

INVARIANT = "fresh-only"
SCENARIOS = ("fresh-frames",)


class Hasty:
    def __init__(self, apply):
        self.apply = apply
        self.last = 0

    def follow(self, future, context):
        future.add_done_callback(lambda ended: self.offer(ended, context))

    def offer(self, ended, context):
        if context > self.last:
            self.apply(SimpleNamespace(context_version=context, model_version=ended.model_version))
            self.last = context


class TwoWorkers(SwitchingQueue):
    workers = 2
    capabilities = SwitchingQueue.capabilities - {"model_switch"}


class Backwards(TwoWorkers):
    subscriber = Hasty


specimen, twin = Backwards, TwoWorkers
