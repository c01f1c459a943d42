"""Gates: a script holds session calls at a point and lets them go."""

from __future__ import annotations

from harness.engine.threads import Controlled, current
from harness.execution.world import ControlledWorld
from harness.observe.recorder import Recorder

__all__ = ["ControlledGates"]


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


class ControlledGates:
    """The gates of one execution."""

    def __init__(self, world: ControlledWorld, recorder: Recorder) -> None:
        self._world = world
        self._recorder = recorder
        self._gates: list[ControlledGate] = []

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

    def release_at_rest(self) -> bool:
        """When nobody can move: let scripts go on that wait in vain, else open a gate. Returns whether it did.

        A gate that the script itself would have opened can hold up the script: a service that runs the task inside
        `submit` does that.
        """
        vain = [gate for gate in self._gates if gate.give_up_waiting()]
        if vain:
            return True
        for gate in self._gates:
            if not gate.is_open and gate.held:
                self._recorder.record("gate-opened", attrs={"point": gate.point})
                gate.open()
                return True
        return False
