"""An honest queue whose model can be switched: a specimen overrides exactly the step that is wrong.

Loaded by path, as `parts.py` is.
"""

from concurrent.futures import Future
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parent / "parts.py"))
ClosedError = parts["ClosedError"]
FullError = parts["FullError"]
RunningCancelFuture = parts["RunningCancelFuture"]
CancellingQueue = parts["CancellingQueue"]
settle_unless_cancelled = parts["settle_unless_cancelled"]


class VersionedFuture(RunningCancelFuture):
    """A future that says what it was computed from."""

    context = None
    model_version = None


class Switch:
    """Waits in the queue between the old tasks and the new ones."""

    def __init__(self, open_session, version, *, cancels):
        self.open_session = open_session
        self.version = version
        self.cancels = cancels
        self.done = Future()


class SwitchingQueue(CancellingQueue):
    """One worker, which opens the new session when it comes to the switch."""

    capabilities = frozenset({"callbacks", "freshness", "model_switch", "overflow:reject", "running_cancel"})

    def prepare(self):
        """Start with the first version."""
        self.version = "v1"

    def make_future(self):
        """Make a future that also names its version."""
        return VersionedFuture()

    def submit(self, inputs, *, context=None):
        """Accept one task, or raise ClosedError or FullError."""
        taken, future = self.take_over(inputs), self.make_future()
        future.context = context
        with self.changed:
            self.admit()
            self.waiting.append((taken, future))
            self.changed.notify_all()
        return future

    def admit(self):
        """Refuse, under the lock, what there is no place for: a switch takes none."""
        if self.closing:
            raise ClosedError
        if sum(not isinstance(each[0], Switch) for each in self.waiting) >= self.capacity:
            raise FullError

    def switch(self, open_session, *, version, pending="finish", deadline=None):
        """Have the worker switch, and wait for it."""
        switch = Switch(open_session, version, cancels=pending == "cancel")
        with self.changed:
            if self.closing:
                raise ClosedError
            self.place(switch)
            self.changed.notify_all()
        self.wait_for(switch)

    def place(self, switch):
        """Put the switch behind the old tasks, under the lock."""
        self.waiting.append((switch, switch.done))

    def wait_for(self, switch):
        """Wait until the switch is done."""
        switch.done.result()

    def serve(self, session):
        """Serve the session of the current version until closing, on the worker."""
        while (task := self.take()) is not None:
            if isinstance(task[0], Switch):
                session = self.change_over(session, task[0])
            else:
                self.run(session, *task)
        self.release(session)

    def take(self):
        """Wait for the next task; None when there is none and never will be."""
        with self.changed:
            while not self.waiting and not self.closing:
                self.changed.wait()
            if not self.waiting:
                return None
            if (ahead := self.cancelling()) is not None:
                return ahead
            return self.choose()

    def choose(self):
        """Take the next one, under the lock."""
        return self.waiting.popleft()

    def cancelling(self):
        """Take a switch that does not wait for the old tasks, under the lock, and end those."""
        for place, (switch, done) in enumerate(self.waiting):
            if isinstance(switch, Switch) and switch.cancels:
                old = [self.waiting.popleft() for _ in range(place)]
                self.waiting.popleft()
                switch.old = old
                return switch, done
        return None

    def change_over(self, session, switch):
        """Open the new session; the old one stays if that fails."""
        old = getattr(switch, "old", [])
        try:
            newer = switch.open_session()
        except Exception as error:  # noqa: BLE001 - the switch raises it
            with self.changed:
                self.waiting.extendleft(reversed(old))
            switch.done.set_exception(error)
            return session
        for waiting, future in old:
            if isinstance(waiting, Switch):
                future.set_exception(ClosedError())
            else:
                future.cancel()
        session.close()
        self.version = switch.version
        switch.done.set_result(None)
        return newer

    def run(self, session, inputs, future):
        """Run unless cancelled, and say on what."""
        if future.start():
            future.model_version = self.version
            settle_unless_cancelled(future, session.run, inputs)
