"""One controlled execution of one scenario, from the first decision to quiescence and the sweep after it."""

from __future__ import annotations

import gc
import logging
import threading  # noqa: TID251 - the script is a thread
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count

from adapters.base import Adapter, ModelFile, Opener, Session
from harness.engine.carriers.carrier import Carriers
from harness.engine.install import reset_names
from harness.engine.kernel import Kernel
from harness.engine.primitives.thread import start_controlled
from harness.engine.scheduler import QUIET_UNTIL_REST
from harness.engine.strategies.replay import Replay
from harness.engine.strategies.strategy import Strategy
from harness.engine.threads import Controlled
from harness.execution.at_rest import AtRest, note_stuck
from harness.execution.decisions import Decided, DecisionLog
from harness.execution.elsewhere import Elsewhere
from harness.execution.gates import ControlledGates
from harness.execution.native_path import NativePath
from harness.execution.run_state import RunState, Step
from harness.execution.script import ControlledScript, ServiceNotOpenedError
from harness.execution.services import Factory
from harness.execution.tasks import CellTasks
from harness.execution.tracer import TracedWorld, Tracer
from harness.execution.world import ControlledWorld
from harness.faults.catalogue import FAMILIES
from harness.faults.plan import Arming, FaultPlan
from harness.history import History
from harness.observe.neighbour import Neighbour
from harness.observe.recorder import Recorder
from harness.observe.seam import Seam
from harness.scenario import Scenario
from harness.schedule import Schedule
from harness.suite.plan import TargetSpec
from harness.verdict import Finding

__all__ = ["Execution", "Laboratory", "is_next"]

_ROOT_LOGGER = logging.getLogger()
COLLECT_EVERY = 64
"""Garbage is collected between executions only, once in so many: finalizers would run at random points otherwise."""
UNFREEZE_EVERY = 16
"""Laboratories: a collection looks at the whole process only once in so many, for what earlier cells left in cycles."""
_closed = count(1)


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
    harmed: bool = False
    """Whether another process was not as it was afterwards: what harmed it may still be there."""
    pruned: bool = False
    was_fair: bool = False
    left_out: tuple[tuple[int, int], ...] = ()
    made: tuple[Step, ...] = ()
    decisions: Sequence[tuple[int, int, int, bool, int]] = ()
    threads: tuple[str, ...] = ()

    @property
    def decided(self) -> Decided:
        """What a replay of it must do again."""
        return Decided(self.decisions, self.threads, self.history.events)


class Laboratory:
    """Runs executions of one cell, one after the other, on one thread that is not controlled.

    `faults` are armed at the beginning of each. `native` opens sessions where a fault may strike inside native code.
    The `neighbour` is another process, asked how it is once a fault has struck.
    `releases_decide` (see the scheduler) is set by the first execution that shows whether a lock is held: a search must
    start over then, and what is recorded from then on must be replayed with it. `on_execution` is called before each
    execution, a replay too: whoever waits for the cell hears that it goes on.
    """

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
        faults: Sequence[Arming] = (),
        native: NativePath | None = None,
        next_model: ModelFile | None = None,
        neighbour: Neighbour | None = None,
    ) -> None:
        self.faults = faults
        self.neighbour = neighbour
        self._next_model = next_model
        self.native = native
        self._scenario = scenario
        self._factory = factory
        self._tasks = tasks
        self._adapter = adapter
        self._model = model
        self._target = target
        self._carriers = carriers
        self._since_collection = 0
        self._at_statements = at_statements
        self.releases_decide = False
        self.on_execution: Callable[[], None] | None = None
        gc.collect()
        gc.freeze()  # a collection then looks at what executions made, not at every module of the process

    def execute(
        self,
        strategy: Strategy,
        number: int,
        tracer: Tracer | None = None,
        leave_out: Iterable[tuple[int, int]] = (),
        rest_after: int = QUIET_UNTIL_REST,
    ) -> Execution | None:
        """Run execution `number` under a strategy; None when the strategy has none left.

        `leave_out` are steps of the script that it does not make: see `harness.schedule.Schedule`. `rest_after`: see
        the scheduler.
        """
        if not strategy.begin(number):
            return None
        if self.on_execution is not None:
            self.on_execution()
        reset_names()
        _ROOT_LOGGER.setLevel(_ROOT_LOGGER.level)  # drops what loggers cache: the first use of one takes a lock more
        log = DecisionLog(strategy)
        kernel = Kernel(self._carriers, log)
        kernel.at_statements = self._at_statements
        kernel.rest_after = rest_after
        kernel.releases_decide = self.releases_decide
        kernel.track(strategy.races)
        run = _Run(kernel, self, log, tracer, frozenset(leave_out))
        gc.disable()
        try:
            execution = run.execute()
        finally:
            self._collect()
        strategy.end(kernel.points)
        self.releases_decide |= kernel.holding_shows
        return execution

    def _collect(self) -> None:
        self._since_collection += 1
        if self._since_collection >= COLLECT_EVERY:
            self._since_collection = 0
            gc.collect()
        gc.enable()

    def script(
        self,
        seam: Seam,
        recorder: Recorder,
        gates: ControlledGates,
        faults: FaultPlan,
        leave_out: frozenset[tuple[int, int]],
    ) -> tuple[RunState, ControlledScript]:
        """The script of one execution and the state it works on."""
        state = RunState(recorder, seam, self._tasks, self._factory, leave_out)
        state.versioned = bool({"freshness", "model_switch"}.intersection(self._scenario.requires))

        def opener(version: str) -> Opener:
            following = self._next_model if is_next(version) and self.native is None else None
            opening = partial(self._open, self._model if following is None else following)
            return seam.opener(opening, version, is_next=following is not None)

        return state, ControlledScript(state, gates, faults, opener)

    def _open(self, model: ModelFile, fallback: bool) -> Session:  # noqa: FBT001 - what an opener was asked for
        """Open a real session."""
        adapter, target = self._adapter, self._target
        if self.native is not None and not fallback:
            return self.native.open(model)
        delegate = adapter.cpu_delegate if fallback else target.delegate or adapter.default_delegate
        return adapter.open(model, delegate, target.options)

    def close(self) -> None:
        """End the carriers."""
        if next(_closed) % UNFREEZE_EVERY == 0:
            gc.unfreeze()
        self._carriers.close()

    def replay(self, schedule: Schedule) -> Execution:
        """Run the execution that a schedule records."""
        execution = self.execute(Replay(schedule), 0, leave_out=schedule.left_out)
        assert execution is not None, "a replay has one execution"
        return execution

    def trace(self, schedule: Schedule) -> tuple[Execution, Tracer]:
        """Run the execution that a schedule records, and watch it for the eye."""
        tracer = Tracer()
        execution = self.execute(Replay(schedule), 0, tracer, schedule.left_out)
        assert execution is not None, "a replay has one execution"
        return execution, tracer

    @property
    def scenario(self) -> Scenario:
        """The scenario of the cell."""
        return self._scenario


def is_next(version: str) -> bool:
    """Whether sessions of this version are of the next model: `v2`, `v4` and so on are; the first opener's are not."""
    number = version.removeprefix("v")
    return number.isdecimal() and int(number) % 2 == 0


class _Run:
    """The moving parts of one execution."""

    def __init__(
        self,
        kernel: Kernel,
        laboratory: Laboratory,
        log: DecisionLog,
        tracer: Tracer | None,
        leave_out: frozenset[tuple[int, int]],
    ) -> None:
        self._kernel = kernel
        self._log = log
        self._tracer = tracer
        self._body = laboratory.scenario.body
        held = laboratory.scenario.endless
        self._native = laboratory.native
        self._strikes = None if self._native is None else self._native.strikes()
        if tracer is None:
            world = ControlledWorld(kernel, held=held)
        else:
            tracer.watch(kernel)
            world = TracedWorld(kernel, tracer, held=held)
        self._recorder = Recorder(world)
        self._gates = ControlledGates(world, self._recorder)
        self._faults = FaultPlan()
        for arming in laboratory.faults:
            self._faults.arm(arming, by_scenario=False)
        self._elsewhere = Elsewhere(laboratory.neighbour, self._recorder, self._faults)
        self._not_opened = ""
        self._seam = Seam(world, self._recorder, self._gates, self._faults, self._strikes)
        self._state, self._script = laboratory.script(self._seam, self._recorder, self._gates, self._faults, leave_out)

    def execute(self) -> Execution:
        kernel = self._kernel
        self._start("script", self._perform)
        kernel.go()
        while self._may_go_on():
            kernel.go()
        at_rest = note_stuck(kernel, self._recorder, self._tracer)
        if kernel.stalled is None and not kernel.out_of_budget:
            self._recorder.record("quiescent")
            self._start("sweep", self._sweep)
            kernel.go()
            self._elsewhere.after()
        if self._strikes is not None:
            self._recorder.record("native-counters", attrs=self._strikes.attrs())
        findings = self._findings(at_rest)
        history = self._recorder.history("controlled")
        threads = tuple(thread.name for thread in kernel.threads)
        self._gates.end_all()
        clean = kernel.abort_rest()
        if clean:
            for session in self._seam.sessions:
                session.release_for_harness()
            kernel.forget()
            if self._native is not None and self._strikes is not None:
                findings = (*findings, *self._native.left(self._strikes))
        return Execution(
            history=history,
            choices=tuple(kernel.choices),
            points=kernel.points,
            blocked=at_rest.blocked,
            findings=findings,
            injected=self._faults.injected,
            clean=clean,
            harmed=self._elsewhere.harmed,
            pruned=kernel.pruned,
            was_fair=kernel.was_fair,
            left_out=tuple(sorted(self._state.left_out)),
            made=tuple(self._state.made),
            decisions=self._log.made,
            threads=threads,
        )

    def _may_go_on(self) -> bool:
        """Whether somebody can move again, now that nobody could."""
        if self._kernel.stalled is not None or self._kernel.out_of_budget:
            return False
        if self._gates.holds:
            self._elsewhere.while_held()
        return self._gates.release_at_rest()

    def _start(self, name: str, body: object) -> None:
        thread = threading.Thread(target=body, name=name, daemon=False)  # type: ignore[arg-type]
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

    def _findings(self, at_rest: AtRest) -> tuple[Finding, ...]:
        kernel = self._kernel
        found = [*at_rest.left, *self._elsewhere.findings]
        if kernel.stalled is not None:
            found.append(
                Finding("uncontrolled", f"{kernel.stalled.thread} ran on without control at {kernel.stalled.where}")
            )
        found.extend(
            Finding("fault-missed", f"{name} {FAMILIES[name].comes_through}") for name in sorted(self._faults.missed)
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
