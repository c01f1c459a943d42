"""The controlled implementation of the scenario vocabulary. See `harness.scenario.Script`."""

from __future__ import annotations

import threading  # noqa: TID251 - actors are threads
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from adapters.base import Opener
from harness.engine.primitives.thread import start_controlled
from harness.engine.threads import current
from harness.execution.client import ControlledInput, ControlledService
from harness.execution.configuration import Setup
from harness.execution.gates import ControlledGate, ControlledGates
from harness.execution.native_path import native_faults
from harness.execution.outside import RecordedJournal, ScriptedMemory
from harness.execution.run_state import RunState
from harness.execution.subscriber import ControlledSubscriber
from harness.faults.plan import Arming, FaultPlan
from harness.faults.worker_death import WorkerDeathError
from harness.observe.recorder import Recorder
from harness.scenario import ClassOptions, Input, Point, ScenarioError
from harness.service.residency import Residents

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

    def ended(self, future: Any, how: str) -> None:
        """The task was EXPIRED or REPLACED, or its result came too late and was dropped."""
        self._recorder.record_future("ended", future, attrs={"how": str(how)})

    def slot(self, slot: int, state: str) -> None:
        """The slot changed its state."""
        self._recorder.record("slot-state", slot=f"slot{slot}", attrs={"state": str(state)})

    def recovery(self, slot: int, step: str) -> None:
        """The slot's recovery has reached a step."""
        self._recorder.record("recovery-step", slot=f"slot{slot}", attrs={"step": str(step)})

    def health(self, name: str) -> None:
        """The service says how it is."""
        self._recorder.record("health", attrs={"health": str(name)})

    def closing(self, reason: str) -> None:
        """The service is being closed, for this reason."""
        self._recorder.record("closing", attrs={"reason": str(reason)})


class ControlledScript:
    """One execution's script. Methods are called on controlled threads."""

    def __init__(
        self, state: RunState, gates: ControlledGates, faults: FaultPlan, opener: Callable[[str], Opener]
    ) -> None:
        self._state = state
        self._gates = gates
        self._faults = faults
        self._opener = opener
        self._subscribers = 0
        self._next_task = 0
        self._residents = Residents()
        self._next_shaped: Counter[int] = Counter()
        self._actors: list[threading.Thread] = []
        self.service: ControlledService | None = None
        self.fallback_declared = False

    def open_service(
        self,
        *,
        capacity: int | None = None,
        fallback: bool = False,
        classes: Mapping[str, ClassOptions] | None = None,
        ordering: str | None = None,
        run_budget: float | None = None,
        abandoned_limit: int | None = None,
        lazy: bool = False,
        health_check: Callable[[], bool] | None = None,
        shapes: bool = False,
        journal: Any = None,
        memory: Any = None,
        most_live: int = 2,
        resident: bool = False,
        events: int = 0,
    ) -> ControlledService:
        """Build the service, recorded with the answer."""
        factory = self._state.factory
        setup = self._state.setup = Setup(
            factory=factory,
            capacity=factory.spec.capacity if capacity is None else capacity,
            fallback=fallback,
            classes=classes or {},
            ordering=ordering,
            run_budget=run_budget,
            abandoned_limit=abandoned_limit,
            lazy=lazy,
            health_check=health_check,
            shapes=self._state.tasks.shapes if shapes else (),
            journal=journal,
            memory=memory,
            most_live=most_live,
            residents=self._residents if resident else None,
            events=events,
        )
        service = self._make(setup)
        self._state.decoder = getattr(service, "decode", None)
        self.service = ControlledService(self._state, service, self._opener)
        return self.service

    def _make(self, setup: Setup) -> Any:
        recorder = self._state.recorder

        def checked(session: object, sound: bool) -> None:  # noqa: FBT001 - the answer
            recorder.record("health-check", session=getattr(session, "name", None), attrs={"sound": sound})

        config = setup.config(ToldByService(recorder), checked)
        call = recorder.next_call()
        recorder.record("service-open-begin", attrs=setup.attrs(call))
        for name in setup.classes:
            recorder.record("request-class", attrs=setup.class_attrs(name))
        try:
            service = setup.factory.make(self._opener(""), config)
        except (Exception, WorkerDeathError) as error:
            recorder.record("service-open-end", attrs={"call": call, "answer": "error", "error": type(error).__name__})
            raise ServiceNotOpenedError(type(error).__name__) from error
        recorder.record("service-open-end", attrs={"call": call, "answer": "ok"})
        return service

    def subscriber(self) -> ControlledSubscriber:
        """Who applies the service's results."""
        assert self.service is not None, "a script opens the service first"
        self._subscribers += 1
        return self.service.subscriber(self._subscribers)

    def task(self, *, malformed: bool = False, shape: int = 0, oversized: bool = False) -> ControlledInput:
        """The next task."""
        self._state.seam.world.shared(self, write=True)
        if shape:
            return self._shaped_task(shape)
        number = self._next_task
        tasks = self._state.tasks
        if 2 * number >= tasks.count:
            message = f"no task {number + 1}: the oracle can tell {tasks.count} apart, and half of them are decoys"
            raise ScenarioError(message)
        self._next_task += 1
        if oversized:
            return ControlledInput(number, tasks.oversized(), malformed=True)
        source = ControlledInput(number, tasks.arrays(number, malformed=malformed), malformed=malformed)
        if not malformed:
            self._state.seam.task_of_input[tasks.digest(number)] = source.task
        return source

    def again(self, task: Input) -> ControlledInput:
        """The same input as another task."""
        assert isinstance(task, ControlledInput), "a script submits what script.task() gave"
        tasks = self._state.tasks
        source = ControlledInput(task.number, tasks.arrays(task.number), malformed=False, suffix=f"{task.suffix}r")
        self._state.seam.task_of_input[tasks.digest(task.number)] = source.task
        return source

    def journal(self) -> RecordedJournal:
        """A journal whose every state can be found by another process."""
        return RecordedJournal(self._state.seam.world)

    def memory(self) -> ScriptedMemory:
        """A memory that the script fills."""
        return ScriptedMemory(self._state.seam.world)

    def _shaped_task(self, shape: int) -> ControlledInput:
        tasks, taken = self._state.tasks, self._next_shaped[shape]
        numbers = tasks.of_shape(shape)
        if taken >= len(numbers):
            message = f"no task {taken + 1} of shape {shape}: there are {len(numbers)}"
            raise ScenarioError(message)
        self._next_shaped[shape] += 1
        number = numbers[taken]
        source = ControlledInput(number, tasks.arrays(number), malformed=False)
        self._state.seam.task_of_input[tasks.digest(number)] = source.task
        return source

    @property
    def workers(self) -> int:
        """How many sessions the service uses."""
        return self._state.factory.workers

    @property
    def sessions(self) -> int:
        """How many sessions the service has asked for."""
        self._state.seam.world.shared(self._state.seam, write=False)
        return len(self._state.seam.sessions)

    def actor(self, name: str, body: Callable[[], object]) -> None:
        """Start an actor."""
        me = current()
        assert me is not None, "a script runs on a controlled thread"
        recorder = self._state.recorder
        left_out = self._state.leaves_out("actor")

        def act() -> None:
            if left_out:
                return  # its thread is there all the same, so that a schedule's thread numbers stay what they are
            recorder.record("actor-begin")
            try:
                body()
            finally:
                recorder.record("actor-end")

        thread = threading.Thread(target=act, name=name, daemon=False)
        self._actors.append(thread)
        self._state.actor_starts(start_controlled(me.kernel, thread, name=name, role="actor", parent=me))
        me.kernel.point(me)

    def join(self) -> None:
        """Wait for the actors."""
        actors, self._actors = self._actors, []
        for thread in actors:
            thread.join()

    def hold(self, point: Point, calls: int | None = None) -> ControlledGate:
        """Hold session calls at a point."""
        return self._gates.add(point, calls)

    def arm(
        self,
        fault: str,
        *,
        point: Point | None = None,
        nth: int = 1,
        session: str = "",
        task: Input | None = None,
        persistent: bool = False,
        probability: float = 1.0,
        seed: int = 0,
    ) -> None:
        """Arm a fault."""
        if self._state.leaves_out("arm"):
            return
        self._state.seam.world.shared(self._faults, write=True)
        arming = Arming(
            name=fault,
            point=point,
            nth=nth,
            session=session,
            task="" if task is None else task.task,
            persistent=persistent,
            probability=probability,
            seed=seed,
        )
        if native_faults((fault,)) and self._state.seam.natives is None:
            message = f"{fault} strikes inside native code: the scenario must name it in `arms`"
            raise ScenarioError(message)
        try:
            self._faults.arm(arming)
        except ValueError as error:
            raise ScenarioError(str(error)) from error

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass."""
        if self._state.leaves_out("sleep"):
            return
        me = current()
        assert me is not None, "a script runs on a controlled thread"
        me.kernel.block(me, "sleep", seconds)

    def rest(self, seconds: float = 0.0) -> None:
        """Let virtual time pass, and wait until nobody else can move."""
        if seconds > 0:
            self.sleep(seconds)
        self._gates.rest()

    def expect(self, met: bool, invariant: str, says: str) -> None:  # noqa: FBT001 - reads as an assertion
        """Record an expectation. It was written for the whole script, and for the faults that the script arms."""
        if self._state.leave_out or self._faults.interfered:
            return
        self._state.recorder.record("expectation", attrs={"invariant": invariant, "met": met, "says": says})

    def finish(self) -> None:
        """What every script ends with: its actors end, and the service is closed if the script left it open."""
        self.join()
        self._state.ending = True
        if self.service is not None and not self.service.is_over:
            self.service.close()
