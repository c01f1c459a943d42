"""Gates: a script holds session calls at a point and lets them go."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from harness.engine import real
from harness.engine.native_calls import Timed
from harness.engine.threads import Controlled, current
from harness.execution.world import ControlledWorld
from harness.history import Attr
from harness.observe.native import Parked
from harness.observe.recorder import Recorder

__all__ = ["ControlledGates"]

RETURN_SECONDS = 90.0
"""Real time in which a native call returns once it is let go."""


class ControlledGate:
    """A hold on the calls that reach one point. See `harness.scenario.Gate`."""

    def __init__(self, gates: ControlledGates, point: str, limit: int | None) -> None:
        self.point = point
        self.is_open = False
        self._gates = gates
        self._left = limit
        self.held: list[Controlled] = []
        self.waiting: list[tuple[Controlled, int]] = []
        self.arrived = 0

    def wants(self, point: str) -> bool:
        """Say whether a call at `point` is to be held."""
        return not self.is_open and point == self.point and (self._left is None or self.arrived < self._left)

    def wait(self, calls: int = 1) -> bool:
        """Wait until that many calls stand here; if nobody can move any more, go on without them and say so."""
        me = current()
        assert me is not None, "a script runs on a controlled thread"
        me.kernel.touch(me, self)
        if not self.is_open and len(self.held) < calls:
            self.waiting.append((me, calls))
            me.kernel.block(me, self)
        return len(self.held) >= calls

    def open(self) -> None:
        """Let the calls go, and hold no more."""
        self.is_open = True
        for thread in self.held:
            thread.kernel.wake(thread)
        me = current()
        if me is not None:
            me.kernel.touch(me, self)
            me.kernel.point(me)

    def give_up_waiting(self) -> bool:
        """Let the script go on though the calls did not come. Returns whether anybody waited."""
        waiting, self.waiting = self.waiting, []
        for thread, _ in waiting:
            thread.kernel.wake(thread)
        return bool(waiting)


class _Hang:
    """A call that does not return."""

    def __init__(self, thread: Controlled, point: str, session: str, *, interruptible: bool) -> None:
        self.point = point
        self.session = session
        self.interruptible = interruptible
        self.interrupted = False
        self.over = False
        self._thread = thread

    def end(self, *, interrupted: bool) -> None:
        """Let the call go on."""
        self.over = True
        self.interrupted = interrupted
        self._thread.kernel.wake(self._thread)


class _NativeHang:
    """A call that is parked inside native code. No interrupt reaches it there.

    It ends when its time is over, where it has one, or at rest.
    """

    point = "invoke"
    interruptible = False

    def __init__(self, thread: Controlled, session: str, parked: Parked) -> None:
        self.session = session
        self.error: Exception | None = None
        self._thread = thread
        self._parked = parked
        self._returned = real.allocate_lock()  # by its module: a name of our own would be replaced as the user's are
        self._returned.acquire()

    def make(self, call: Callable[[], object]) -> None:
        """Make the call. What it raises is kept: the thread has not the token yet when it returns."""
        try:
            call()
        except Exception as error:  # noqa: BLE001 - raised again once the thread has the token
            self.error = error
        finally:
            self._parked.is_over = True
            self._returned.release()

    def end(self, *, interrupted: bool) -> None:
        """Let the call go on, and see it return: what else the runtime does in it happens before anybody moves."""
        assert not interrupted, "nothing interrupts a parked call"
        kernel = self._thread.kernel
        self._parked.let_go()
        if self._returned.acquire(True, RETURN_SECONDS):  # noqa: FBT003 - the standard signature
            kernel.expect_return(self._thread)
        else:
            kernel.escaped = "a native call did not return when it was let go"
        kernel.real_time_mattered |= self._parked.gave_up


class ControlledGates:
    """The gates of one execution."""

    def __init__(self, world: ControlledWorld, recorder: Recorder) -> None:
        self._world = world
        self._recorder = recorder
        self._gates: list[ControlledGate] = []
        self._resting: list[Controlled] = []
        self._hangs: list[_Hang | _NativeHang] = []

    def rest(self) -> None:
        """Wait until nobody else can move."""
        me = current()
        assert me is not None, "a script runs on a controlled thread"
        self._resting.append(me)
        me.kernel.block(me, self)

    def add(self, point: str, limit: int | None) -> ControlledGate:
        """Set up a gate."""
        gate = ControlledGate(self, point, limit)
        self._gates.append(gate)
        return gate

    def stand(self, point: str, task: str | None, session: str) -> None:
        """Stand at the gate of this point, if there is one, until it opens."""
        me = current()
        for gate in self._gates:
            if me is not None:
                me.kernel.touch(me, gate)
            if gate.wants(point):
                self._hold(gate, task, session)

    def _hold(self, gate: ControlledGate, task: str | None, session: str) -> None:
        me = current()
        if me is None:
            return
        self._recorder.record("held", task, session, attrs={"point": gate.point})
        gate.arrived += 1
        gate.held.append(me)
        for waiting in [waiting for waiting in gate.waiting if len(gate.held) >= waiting[1]]:
            gate.waiting.remove(waiting)
            me.kernel.wake(waiting[0])
        while not gate.is_open:
            me.kernel.block(me, gate)
        gate.held.remove(me)
        self._recorder.record("unheld", task, session, attrs={"point": gate.point})

    def hang(self, point: str, task: str | None, session: str, *, interruptible: bool) -> bool:
        """Stay until the session is interrupted, where that counts, or nobody else can move; True for an interrupt."""
        me = current()
        if me is None:
            return False
        self._recorder.record("held", task, session, attrs={"point": point, "hangs": True})
        hang = _Hang(me, point, session, interruptible=interruptible)
        self._hangs.append(hang)
        while not hang.over:
            me.kernel.block(me, hang)
        self._recorder.record("unheld", task, session, attrs={"point": point, "hangs": True})
        return hang.interrupted

    def park(
        self, task: str | None, session: str, call: Callable[[], object], parked: Parked, seconds: float | None
    ) -> None:
        """See `harness.observe.gates.Gates`."""
        me = current()
        assert me is not None, "only a controlled thread is parked"
        attrs: dict[str, Attr] = {"point": "invoke", "hangs": True}
        self._recorder.record("held", task, session, attrs=attrs)
        self._recorder.record("in-native", task, session)
        hang = _NativeHang(me, session, parked)
        self._hangs.append(hang)
        me.in_call = True
        try:
            end = partial(hang.end, interrupted=False)
            timed = None if seconds is None else Timed(seconds, parked.pass_through, end)
            self._world.kernel.native(me, lambda: hang.make(call), parked.wait, timed)
        finally:
            me.in_call = False
        if hang in self._hangs:
            self._hangs.remove(hang)
        me.kernel.real_time_mattered |= parked.gave_up
        self._recorder.record("unheld", task, session, attrs=attrs)
        if hang.error is not None:
            try:
                raise hang.error
            finally:
                hang.error = None  # a frame that names the error it raises is a cycle

    def end_all(self) -> None:
        """End what still hangs inside native code: the execution is over."""
        for hang in self._hangs:
            if isinstance(hang, _NativeHang):
                hang.end(interrupted=False)
        self._hangs.clear()

    def interrupted(self, session: str) -> None:
        """End what hangs on this session and can be interrupted."""
        for hang in [hang for hang in self._hangs if hang.interruptible and hang.session == session]:
            self._hangs.remove(hang)
            hang.end(interrupted=True)

    @property
    def holds(self) -> bool:
        """Whether a fault holds a call."""
        return bool(self._hangs)

    def release_at_rest(self) -> bool:
        """When nobody can move: let scripts go on that wait for that, or in vain, else open a gate, else end a hang.

        Returns whether it did. A gate that the script itself would have opened can hold up the script: a service that
        runs the task inside `submit` does that.
        """
        if self._resting:
            self._recorder.record("at-rest")
            resting, self._resting = self._resting, []
            for thread in resting:
                thread.kernel.wake(thread)
            return True
        vain = [gate for gate in self._gates if gate.give_up_waiting()]
        if vain:
            return True
        for gate in self._gates:
            if not gate.is_open and gate.held:
                self._recorder.record("gate-opened", attrs={"point": gate.point})
                gate.open()
                return True
        return self._end_a_hang()

    def _end_a_hang(self) -> bool:
        if not self._hangs:
            return False
        hang = self._hangs.pop(0)
        self._recorder.record("gate-opened", session=hang.session, attrs={"point": hang.point, "hangs": True})
        hang.end(interrupted=False)
        return True
