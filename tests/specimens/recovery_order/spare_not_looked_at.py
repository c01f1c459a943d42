"""A switch has a session ready while old tasks run, one of those finds the device reset, and the ready one is used.
It was on the device, too: the first task of the new model pays for it.
The twin opens what was ready anew before its first run.
"""

from pathlib import Path
from runpy import run_path

from adapters.base import Scope, scope_of

parts = run_path(str(Path(__file__).parents[1] / "switch_parts.py"))
Switch, SwitchingQueue = parts["Switch"], parts["SwitchingQueue"]

INVARIANT = "recovery-order"
SCENARIOS = ("device-reset-spares-the-next-model",)


class Ready(Switch):
    """A switch whose session is there before it is its turn."""

    newer = None

    def open_session_ahead(self):
        self.newer = self.open_session()


class OpeningAhead(SwitchingQueue):
    capabilities = SwitchingQueue.capabilities | {"lifecycle"}

    def open_sessions(self, open_session):
        self.open_session = open_session
        return super().open_sessions(open_session)

    def switch(self, open_session, *, version, pending="finish", deadline=None):
        super().switch(open_session, version=version, pending=pending, deadline=deadline)
        self.open_session = open_session

    def place(self, switch):
        self.waiting.append((Ready(switch.open_session, switch.version, cancels=switch.cancels), switch.done))

    def serve(self, session):
        """Serve as before; what a switch needs is opened as soon as it is known."""
        while (task := self.take()) is not None:
            if isinstance(task[0], Switch):
                session = self.change_over(session, task[0], task[1])
            else:
                session = self.run_and_recover(session, *task)
            self.open_ahead()
        self.release(session)

    def change_over(self, session, switch, done):
        if switch.newer is None:
            switch.open_session_ahead()
        session.close()
        self.version = switch.version
        done.set_result(None)
        return switch.newer

    def run_and_recover(self, session, inputs, future):
        self.run(session, inputs, future)
        error = None if future.cancelled() else future.exception()
        if error is None or scope_of(error) is not Scope.DEVICE:
            return session
        self.device_failed()
        session.close()
        return self.open_session()

    def open_ahead(self):
        for switch in self.switches():
            if switch.newer is None:
                switch.open_session_ahead()

    def device_failed(self):
        """Every session that was open is of no use any more."""

    def switches(self):
        with self.changed:
            return [each for each, _ in self.waiting if isinstance(each, Switch)]


class LookingAtAll(OpeningAhead):
    def device_failed(self):
        for switch in self.switches():
            if switch.newer is not None:
                switch.newer.close()
                switch.newer = None


specimen, twin = OpeningAhead, LookingAtAll
