"""One controlled execution of one scenario, from the first decision to quiescence and the sweep after it."""

from __future__ import annotations

import gc
import threading  # noqa: TID251 - the script is a thread
from collections import Counter
from dataclasses import dataclass

from adapters.base import Adapter, ModelFile
from harness.engine.carriers.carrier import Carriers
from harness.engine.causality import Causality
from harness.engine.install import reset_names
from harness.engine.kernel import Kernel, where_is
from harness.engine.primitives.thread import start_controlled
from harness.engine.strategies.replay import Replay
from harness.engine.strategies.strategy import Strategy
from harness.engine.threads import Controlled, State
from harness.execution.gates import ControlledGates
from harness.execution.run_state import RunState
from harness.execution.script import ControlledScript, ServiceNotOpenedError
from harness.execution.services import Factory
from harness.execution.tasks import CellTasks
from harness.execution.world import ControlledWorld
from harness.faults.plan import FaultPlan
from harness.history import History
from harness.observe.recorder import Recorder
from harness.observe.seam import Seam
from harness.scenario import Scenario
from harness.schedule import Schedule
from harness.suite.plan import TargetSpec
from harness.verdict import Finding

__all__ = ["Execution", "Laboratory"]

_KINDS = {
    "ControlledGate": "a gate of the scenario",
    "Lock": "a lock",
    "RLock": "a lock",
    "SimpleQueue": "an item in a queue",
    "WaiterLock": "a notification",
    "str": "the time to pass",
}
COLLECT_EVERY = 64
"""Garbage is collected between executions only, once in so many: finalizers would run at random points otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """What one execution left: its history, its schedule's exceptions, and what a person should know of it."""

    history: History
    choices: tuple[tuple[int, int, int], ...]
    points: int
    blocked: tuple[str, ...]
    findings: tuple[Finding, ...]
    injected: Counter[str]
    clean: bool
    pruned: bool = False


class Laboratory:
    """Runs executions of one cell, one after the other, on one thread that is not controlled."""

    def __init__(
        self,
        scenario: Scenario,
        factory: Factory,
        adapter: Adapter,
        model: ModelFile,
        target: TargetSpec,
        tasks: CellTasks,
        carriers: Carriers,
        *,
        at_statements: bool = False,
    ) -> None:
        self._scenario = scenario
        self._factory = factory
        self._tasks = tasks
        self._adapter = adapter
        self._model = model
        self._target = target
        self._carriers = carriers
        self._since_collection = 0
        self._at_statements = at_statements
        gc.collect()
        gc.freeze()  # a collection then looks at what executions made, not at every module of the process

    def execute(self, strategy: Strategy, number: int) -> Execution | None:
        """Run execution `number` under a strategy; None when the strategy has none left."""
        if not strategy.begin(number):
            return None
        reset_names()
        kernel = Kernel(self._carriers, strategy)
        kernel.at_statements = self._at_statements
        if strategy.tracks_causality:
            kernel.causality = Causality()
        run = _Run(kernel, self)
        gc.disable()
        try:
            execution = run.execute()
        finally:
            self._collect()
        strategy.end(kernel.points)
        return execution

    def _collect(self) -> None:
        self._since_collection += 1
        if self._since_collection >= COLLECT_EVERY:
            self._since_collection = 0
            gc.collect()
        gc.enable()

    def script(
        self, seam: Seam, recorder: Recorder, gates: ControlledGates, faults: FaultPlan
    ) -> tuple[RunState, ControlledScript]:
        """The script of one execution and the state it works on."""
        state = RunState(recorder, seam, self._tasks, self._factory)
        delegate = self._target.delegate or self._adapter.default_delegate
        opener = seam.opener(self._adapter, self._model, delegate, self._target.options)
        return state, ControlledScript(state, gates, faults, opener)

    def close(self) -> None:
        """End the carriers."""
        gc.unfreeze()
        self._carriers.close()

    def replay(self, schedule: Schedule) -> Execution:
        """Run the execution that a schedule records."""
        execution = self.execute(Replay(schedule), 0)
        assert execution is not None, "a replay has one execution"
        return execution

    @property
    def scenario(self) -> Scenario:
        """The scenario of the cell."""
        return self._scenario


class _Run:
    """The moving parts of one execution."""

    def __init__(self, kernel: Kernel, laboratory: Laboratory) -> None:
        self._kernel = kernel
        self._body = laboratory.scenario.body
        world = ControlledWorld(kernel, held=laboratory.scenario.native == "held")
        self._recorder = Recorder(world)
        self._gates = ControlledGates(world, self._recorder)
        self._faults = FaultPlan()
        self._not_opened = ""
        self._seam = Seam(world, self._recorder, self._gates, self._faults)
        self._state, self._script = laboratory.script(self._seam, self._recorder, self._gates, self._faults)

    def execute(self) -> Execution:
        kernel = self._kernel
        self._start("script", self._perform)
        kernel.go()
        while kernel.stalled is None and not kernel.out_of_budget and self._gates.release_at_rest():
            kernel.go()
        blocked = self._note_stuck()
        if kernel.stalled is None and not kernel.out_of_budget:
            self._recorder.record("quiescent")
            self._start("sweep", self._sweep)
            kernel.go()
        findings = self._findings()
        history = self._recorder.history("controlled")
        clean = kernel.abort_rest()
        if clean:
            for session in self._seam.sessions:
                session.release_for_harness()
        return Execution(
            history=history,
            choices=tuple(kernel.choices),
            points=kernel.points,
            blocked=blocked,
            findings=findings,
            injected=self._faults.injected,
            clean=clean,
            pruned=kernel.pruned,
        )

    def _start(self, name: str, body: object) -> None:
        thread = threading.Thread(target=body, name=name, daemon=True)  # type: ignore[arg-type]
        start_controlled(self._kernel, thread, name=name, role="actor" if name == "script" else "harness")

    def _perform(self) -> None:
        try:
            self._body(self._script)
            self._script.finish()
        except ServiceNotOpenedError as error:
            self._not_opened = str(error)
            self._script.join()

    def _sweep(self) -> None:
        for handle in self._state.handles:
            handle.sweep()

    def _note_stuck(self) -> tuple[str, ...]:
        blocked: list[str] = []
        for thread in self._kernel.threads:
            if thread.state is State.BLOCKED and thread.role != "harness":
                what, holder = _waits_for(thread)
                self._recorder.record_of(
                    thread.name, "stuck", {"waits_for": what, "holder": holder, "role": thread.role}
                )
                held_by = f", held by {holder}" if holder else ""
                blocked.append(f"{thread.name} waits for {what} at {where_is(thread.baton.frame())}{held_by}")
        return tuple(blocked)

    def _findings(self) -> tuple[Finding, ...]:
        kernel = self._kernel
        found: list[Finding] = []
        if kernel.stalled is not None:
            found.append(
                Finding("uncontrolled", f"{kernel.stalled.thread} ran on without control at {kernel.stalled.where}")
            )
        if self._not_opened and not self._faults.injected:
            found.append(Finding("not-opened", f"the service did not open: {self._not_opened}"))
        if kernel.escaped:
            found.append(Finding("uncontrolled", kernel.escaped))
        if kernel.out_of_budget and not kernel.pruned:
            found.append(Finding("budget", f"the execution did not end within {kernel.points} decision points"))
        if kernel.real_time_mattered:
            found.append(
                Finding("real-time", "a held native call ended by itself, so the execution depends on real time")
            )
        for thread in kernel.threads:
            if thread.died_of is not None:
                kind = "scenario-raised" if thread.role in {"actor", "harness"} else "thread-died"
                found.append(
                    Finding(kind, f"{thread.name} died of {type(thread.died_of).__name__}{_scenario_text(thread)}")
                )
        return tuple(found)


def _scenario_text(thread: Controlled) -> str:
    """What a script raised is ours to show; what the code under test raised may hold a payload."""
    return f": {thread.died_of}" if thread.role == "actor" else ""


def _waits_for(thread: Controlled) -> tuple[str, str]:
    """The kind of thing that a blocked thread waits for, and the name of the thread that holds it."""
    thing = thread.waits_for
    if isinstance(thing, threading.Thread):
        target = thing.__dict__.get("_racegate")
        return "the end of a thread", target.name if isinstance(target, Controlled) else ""
    owner = getattr(thing, "owner", None)
    return _KINDS.get(type(thing).__name__, "something else"), owner.name if isinstance(owner, Controlled) else ""
