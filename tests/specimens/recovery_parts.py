"""An honest queue or pool that recovers from a device that hangs or fails: a specimen overrides the step that is wrong.

Loaded by path, as `parts.py` is.
"""

import time
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

from adapters.base import RunInterruptedError, Scope, scope_of

parts = run_path(str(Path(__file__).parent / "contract_parts.py"))
ContractQueue = parts["ContractQueue"]
BudgetError = parts["BudgetError"]


class RecoveringQueue(ContractQueue):
    """Each worker owns a place: a session, whether it is in doubt, and the run that is on it."""

    capabilities = ContractQueue.capabilities | {"lifecycle"}

    def open_sessions(self, open_session):
        """Open a session for each worker."""
        self.open_session = open_session
        self.places = [
            SimpleNamespace(number=number, session=session, doubt=False, open=True, late=False, asking=False, ask=False)
            for number, session in enumerate(super().open_sessions(open_session))
        ]
        return self.places

    def serve(self, place):
        """Serve one place until closing, on its worker."""
        while (task := self.take()) is not None:
            self.look_at(place)
            place.late = False
            self.run(place, *task)
            if place.late:
                self.after_time_out(place)
            if place.doubt:
                self.rebuild(place)
        self.release(place)

    def look_at(self, place):
        """Before the next run: ask the health check if a neighbour failed, and rebuild what is in doubt."""
        if place.ask:
            place.ask = False
            place.doubt = place.doubt or not self.config.health_check(place.session)
        if place.doubt:
            self.rebuild(place)

    def run(self, place, request):
        """Run for those who still wait, and give the call up when its time is over."""
        if request.due <= time.monotonic():
            self.expire(request)
        callers = [future for future in request.callers if future.start()]
        if not callers:
            return
        place.open = True
        if self.config.run_budget is not None:
            due = time.monotonic() + self.budget()
            self.clock.at(due, lambda: self.give_up(place, callers))
        outputs, error = self.call(place.session, request.inputs)
        self.returned(place)
        if scope_of(error) in {Scope.CONTEXT, Scope.DEVICE} and not isinstance(error, RunInterruptedError):
            self.lost(place, error)
        for future in callers:
            self.settle(future, outputs, error)

    def budget(self):
        """How long a run may take, in seconds."""
        return self.config.run_budget

    def call(self, session, inputs):
        """Make the call."""
        try:
            return session.run(inputs), None
        except Exception as failure:  # noqa: BLE001 - a failed run is its task's outcome
            return None, failure

    def returned(self, place):
        """The call has returned: nobody gives it up any more, and who is at it has done so."""
        with self.changed:
            place.open = False
            self.changed.wait_for(lambda: not place.asking)

    def give_up(self, place, callers):
        """The run takes too long, on the clock: ask first, then tell who waits."""
        with self.changed:
            if not place.open or all(future.done() for future in callers):
                return
            place.late = place.asking = True
        self.ask_and_tell(place, callers)
        with self.changed:
            place.asking = False
            self.changed.notify_all()

    def ask_and_tell(self, place, callers):
        """Ask the runtime to end the call, then wake who waits."""
        self.ask(place)
        self.tell(callers)

    def ask(self, place):
        """Ask the runtime to end the call."""
        place.session.interrupt()

    def tell(self, callers):
        """Wake who waits."""
        for future in callers:
            future.end(BudgetError())

    def after_time_out(self, place):
        """The call that took too long has returned."""
        place.doubt = True
        if self.config.health_check is not None:
            self.have_asked(place)

    def have_asked(self, place):
        """Have the other places ask the health check before they run again."""
        for other in self.places:
            other.ask = other is not place

    def lost(self, place, error):
        """The session is of no use any more, and with the device no other."""
        place.doubt = True
        if scope_of(error) is Scope.DEVICE:
            self.alarm(place)

    def alarm(self, place):
        """Have the other places look at their sessions before they run again."""
        for other in self.places:
            other.doubt = True

    def rebuild(self, place):
        """Replace the session, on the place's worker."""
        self.config.observer.slot(place.number, "quarantined")
        self.replace(place)
        place.doubt = False
        self.config.observer.slot(place.number, "ready")

    def replace(self, place):
        """Close the session, then open another."""
        place.session.close()
        place.session = self.open_session()

    def release(self, place):
        """Give back the session, on its worker."""
        place.session.close()


class RecoveringPool(RecoveringQueue):
    """Two places."""

    workers = 2
