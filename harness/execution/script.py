"""The controlled implementation of the scenario vocabulary. See `harness.scenario.Script`."""

from __future__ import annotations

import threading  # noqa: TID251 - actors are threads
from collections.abc import Callable
from typing import Any

from adapters.base import Opener
from harness.engine.primitives.thread import start_controlled
from harness.engine.threads import current
from harness.execution.client import ControlledInput, ControlledService
from harness.execution.gates import ControlledGate, ControlledGates
from harness.execution.run_state import RunState
from harness.faults.plan import FaultPlan
from harness.history import Attr
from harness.observe.recorder import Recorder
from harness.scenario import Point, ScenarioError
from harness.service.config import DelegatePolicy, ServiceConfig

__all__ = ["ControlledScript", "ServiceNotOpenedError", "ToldByService"]


class ServiceNotOpenedError(Exception):
    """The factory raised: there is no service, and the script ends here."""


class ToldByService:
    """Records what our own service tells. See `harness.service.observer.Observer`."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def dequeued(self, future: Any) -> None:
        """A worker took the task."""
        self._recorder.record_future("dequeue", future)

    def leased(self, slot: int, future: Any) -> None:
        """The task has the slot."""
        self._recorder.record_future("lease-begin", future, f"slot{slot}")

    def returned(self, slot: int) -> None:
        """The slot is free."""
        self._recorder.record("lease-end", slot=f"slot{slot}")

    def state(self, name: str) -> None:
        """The service changed its state."""
        self._recorder.record("state", attrs={"state": name})


class ControlledScript:
    """One execution's script. Methods are called on controlled threads."""

    def __init__(self, state: RunState, gates: ControlledGates, faults: FaultPlan, open_session: Opener) -> None:
        self._state = state
        self._gates = gates
        self._faults = faults
        self._open_session = open_session
        self._next_task = 0
        self._actors: list[threading.Thread] = []
        self.service: ControlledService | None = None
        self.fallback_declared = False

    def open_service(self, *, capacity: int | None = None, fallback: bool = False) -> ControlledService:
        """Build the service, recorded with the answer."""
        recorder = self._state.recorder
        factory = self._state.factory
        options = factory.spec
        bound = options.capacity if capacity is None else capacity
        config = ServiceConfig(
            capacity=bound,
            slots=options.slots,
            delegate=DelegatePolicy.PREFER if fallback else DelegatePolicy.REQUIRE,
            observer=ToldByService(recorder),
            options=options.options,
        )
        call = recorder.next_call()
        declared = bound if factory.capacity >= 0 else -1
        attrs: dict[str, Attr] = {"call": call, "capacity": declared, "workers": factory.workers}
        attrs["running_cancel"] = "running_cancel" in factory.capabilities
        attrs["tells_dequeue"] = "tells-dequeue" in factory.capabilities
        recorder.record("service-open-begin", attrs=attrs)
        try:
            service = factory.make(self._open_session, config)
        except Exception as error:
            recorder.record("service-open-end", attrs={"call": call, "answer": "error", "error": type(error).__name__})
            raise ServiceNotOpenedError(type(error).__name__) from error
        recorder.record("service-open-end", attrs={"call": call, "answer": "ok"})
        self._state.decoder = getattr(service, "decode", None)
        self.service = ControlledService(self._state, service, declared)
        return self.service

    def task(self, *, malformed: bool = False) -> ControlledInput:
        """The next task."""
        number = self._next_task
        tasks = self._state.tasks
        if 2 * number >= tasks.count:
            message = f"no task {number + 1}: the oracle can tell {tasks.count} apart, and half of them are decoys"
            raise ScenarioError(message)
        self._next_task += 1
        source = ControlledInput(number, tasks.arrays(number, malformed=malformed), malformed=malformed)
        if not malformed:
            self._state.seam.task_of_input[tasks.digest(number)] = source.task
        return source

    @property
    def workers(self) -> int:
        """How many sessions the service uses."""
        return self._state.factory.workers

    def actor(self, name: str, body: Callable[[], object]) -> None:
        """Start an actor."""
        me = current()
        assert me is not None, "a script runs on a controlled thread"
        recorder = self._state.recorder

        def act() -> None:
            recorder.record("actor-begin")
            try:
                body()
            finally:
                recorder.record("actor-end")

        thread = threading.Thread(target=act, name=name, daemon=True)
        self._actors.append(thread)
        start_controlled(me.kernel, thread, name=name, role="actor", parent=me)
        me.kernel.point(me)

    def join(self) -> None:
        """Wait for the actors."""
        actors, self._actors = self._actors, []
        for thread in actors:
            thread.join()

    def hold(self, point: Point, calls: int | None = None) -> ControlledGate:
        """Hold session calls at a point."""
        return self._gates.add(point, calls)

    def arm(self, fault: str, *, point: Point | None = None, nth: int = 1) -> None:
        """Arm a fault."""
        self._faults.arm(fault, point, nth)

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass."""
        me = current()
        assert me is not None, "a script runs on a controlled thread"
        me.kernel.block(me, "sleep", seconds)

    def expect(self, met: bool, invariant: str, says: str) -> None:  # noqa: FBT001 - reads as an assertion
        """Record an expectation."""
        self._state.recorder.record("expectation", attrs={"invariant": invariant, "met": met, "says": says})

    def finish(self) -> None:
        """What every script ends with: its actors end, and the service is closed if the script left it open."""
        self.join()
        if self.service is not None and not self.service.closes_begun:
            self.service.close()
