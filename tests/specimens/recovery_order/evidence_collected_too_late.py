"""What is known of the failure is put together when the slot has been rebuilt, and says it is sound.
The driver keeps its error no longer than the context that it was about.
The twin collects before it rebuilds.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "recovery_parts.py"))
RecoveringQueue = parts["RecoveringQueue"]

INVARIANT = "recovery-order"
SCENARIOS = ("context-lost",)


class Telling(RecoveringQueue):
    def tell_step(self, place, *steps):
        for step in steps:
            self.config.observer.recovery(place.number, step)

    def run(self, place, request):
        self.config.observer.leased(place.number, request.callers[0])
        super().run(place, request)
        self.config.observer.returned(place.number)

    def lost(self, place, error):
        super().lost(place, error)
        self.tell_step(place, "mark", "confirm")

    def replace(self, place):
        self.tell_step(place, "invalidate")
        place.session.close()
        self.tell_step(place, "reclaim")
        self.rebuild_and_collect(place)
        self.tell_step(place, "neighbours")

    def rebuild_and_collect(self, place):
        self.tell_step(place, "collect")
        place.session = self.open_session()
        self.tell_step(place, "rebuild")


class Late(Telling):
    def rebuild_and_collect(self, place):
        place.session = self.open_session()
        self.tell_step(place, "rebuild", "collect")


specimen, twin = Late, Telling
