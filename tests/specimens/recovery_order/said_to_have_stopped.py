"""The service says that the device has stopped as soon as it has asked for that, with the call still in flight.
Whoever believes it takes the buffers away from under the device.
The twin says so when the call has returned.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "recovery_parts.py"))
RecoveringQueue = parts["RecoveringQueue"]

INVARIANT = "recovery-order"
SCENARIOS = ("watchdog-waits-for-the-device",)


class Telling(RecoveringQueue):
    def tell_step(self, place, *steps):
        for step in steps:
            self.config.observer.recovery(place.number, step)

    def run(self, place, request):
        self.config.observer.leased(place.number, request.callers[0])
        super().run(place, request)
        self.config.observer.returned(place.number)

    def ask_and_tell(self, place, callers):
        self.tell_step(place, "mark")
        self.ask(place)
        self.tell_step(place, "ask", *self.known_by_now, "isolate")
        self.tell(callers)
        self.tell_step(place, "wake")

    known_by_now = ()

    def after_time_out(self, place):
        super().after_time_out(place)
        self.tell_step(place, "confirm")


class Optimistic(Telling):
    known_by_now = ("confirm",)


specimen, twin = Optimistic, Telling
