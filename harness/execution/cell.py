"""Run one cell: explore executions within a budget, judge each, replay and shrink what fails."""

from __future__ import annotations

import os
import time  # noqa: TID251 - a budget may be given in seconds of real time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256

from adapters.base import Adapter, Contract, Grain, ModelFile, Sharing
from harness.engine.carriers.carrier import Carriers
from harness.engine.carriers.cores import choose_core
from harness.engine.carriers.os_thread import OsThreadCarriers
from harness.engine.install import install, installed
from harness.engine.strategies.portfolio import make_strategy
from harness.engine.strategies.strategy import Search
from harness.execution.arming import arming_of
from harness.execution.controlled import Execution, Laboratory
from harness.execution.decisions import first_difference
from harness.execution.display import failure_of
from harness.execution.modules import see_into
from harness.execution.native_path import NativePath, NoNativePathError, held_by, native_faults
from harness.execution.services import Factory, load_factory
from harness.execution.share import MOST_FAILURES, ShareReport, distinct_findings, merge, most_telling
from harness.execution.shrink import shrink
from harness.execution.tasks import ROUNDS, CellTasks
from harness.invariants.catalogue import check_all
from harness.invariants.index import Index
from harness.invariants.one_task_per_session import shared_sessions
from harness.models.registry import load_adapter
from harness.observe.neighbour import Neighbour
from harness.oracle.expectations import Expectations
from harness.oracle.inputs import is_dynamic
from harness.scenario import Scenario
from harness.schedule import Schedule
from harness.suite.plan import CORE, Cell, Share
from harness.verdict import CellResult, Exploration, Failure, FaultTally, Finding, InvariantTally, Verdict, Violation

__all__ = ["CellRun", "run_cell", "run_share"]

WHOLE = Share()
DYNAMIC_SHAPES = "dynamic-shapes"
"""What a scenario requires of the model, not of the service."""


class CellRun:
    """A cell that is ready to be executed, again and again, on the thread that made it.

    Loads all that the cell names: raises UnknownServiceError or the adapter's errors. `code` is the digest, cut to 8
    digits, of the code whose decision points a schedule counts. The laboratory must be closed.
    """

    def __init__(
        self,
        cell: Cell,
        scenario: Scenario,
        model: ModelFile,
        expectations: Expectations,
        next_model: ModelFile | None = None,
        neighbour: Neighbour | None = None,
    ) -> None:
        if not installed():
            message = (
                "the primitives are not replaced: call harness.engine.install.install() before anything is imported"
            )
            raise RuntimeError(message)
        self.cell = cell
        self.scenario = scenario
        self.factory: Factory = load_factory(cell.service)
        self.code = f"{int(self.factory.source_digest[:8], 16) ^ int(scenario.digest[:8], 16):08x}"
        adapter = load_adapter(cell.target.adapter)
        install()  # sweeps again: the service's modules have been imported since
        delegate = cell.target.delegate or adapter.default_delegate
        probe = adapter.open(model, delegate, cell.target.options)
        contract, grain = probe.contract, probe.interrupt_grain
        self.dynamic = is_dynamic(contract)
        self.concurrent_sessions = probe.sharing is Sharing.CONCURRENT_RUN
        probe.close()
        if self.factory.instrumented:
            see_into(scenario)
        at_statements = cell.budget.granularity == "statement"
        if at_statements and not self.factory.instrumented:
            message = "statement granularity was asked for, but the service's module is not instrumented"
            raise RuntimeError(message)
        inside = native_faults((*scenario.arms, *(spec.name for spec in cell.faults)))
        self.is_held = scenario.native == "held" or held_by(inside)
        self.not_applicable = self._cannot_hold(contract, grain) if scenario.endless else ""
        native = self._native_path(adapter, model, expectations) if inside else None
        tasks = CellTasks(contract, expectations, endless=scenario.endless and not self.not_applicable)
        carriers = _carriers("threads" if self.is_held or inside else cell.budget.carrier)
        self.laboratory = Laboratory(
            self.scenario,
            self.factory,
            adapter,
            model,
            cell.target,
            tasks,
            carriers,
            at_statements=at_statements,
            faults=tuple(arming_of(spec) for spec in cell.faults),
            native=native,
            next_model=next_model,
            neighbour=neighbour,
        )
        self.expectations = expectations

    def _cannot_hold(self, contract: Contract, grain: Grain) -> str:
        if not any(spec.name == ROUNDS for spec in contract.inputs):
            return "runs are held inside native code with builtin:slow"
        return f"{self.cell.target.adapter} cannot interrupt a run" if grain is Grain.NONE else ""

    def _native_path(self, adapter: Adapter, model: ModelFile, expectations: Expectations) -> NativePath | None:
        """The way in for faults inside native code; None, with the reason in `not_applicable`, where there is none."""
        if self.scenario.endless:
            self.not_applicable = self.not_applicable or "the scenario's runs are held inside native code already"
            return None
        try:
            return NativePath(adapter, self.cell.target, model, expectations)
        except NoNativePathError as error:
            self.not_applicable = str(error)
            return None

    def schedule(self, execution: Execution) -> Schedule:
        """The schedule of one execution, bound to this cell and to the code of service and scenario."""
        return Schedule(self.cell.digest[:12], self.code, execution.choices, execution.left_out)


def _carriers(kind: str) -> Carriers:
    if kind == "greenlets":  # on this thread, which hands over to nobody: no core is better than the one it is given
        from harness.engine.carriers.greenlets import GreenletCarriers  # noqa: PLC0415 - an optional package

        return GreenletCarriers()
    return OsThreadCarriers(choose_core(int(os.environ.get(CORE, "0"))))


def run_cell(
    cell: Cell,
    scenario: Scenario,
    model: ModelFile,
    expectations: Expectations,
    progress: Callable[[int], None],
    next_model: ModelFile | None = None,
    neighbour: Neighbour | None = None,
) -> CellResult:
    """Explore the cell within its budget. `progress` hears the number before each execution and each replay of it.

    `next_model` is what a switch goes over to, the one of `expectations.next_digest`. The `neighbour` process is asked
    how it is once a fault has struck.
    """
    return merge([run_share(cell, scenario, model, expectations, progress, WHOLE, next_model, neighbour)])


def run_share(
    cell: Cell,
    scenario: Scenario,
    model: ModelFile,
    expectations: Expectations,
    progress: Callable[[int], None],
    share: Share = WHOLE,
    next_model: ModelFile | None = None,
    neighbour: Neighbour | None = None,
) -> ShareReport:
    """Explore one share of the cell: of its executions those that are the share's, at most so many seconds."""
    run = CellRun(cell, scenario, model, expectations, next_model, neighbour)
    run.laboratory.releases_decide = share.of > 1  # shares must agree on it, and one may learn of it late
    try:
        return _explore(run, progress, share)
    finally:
        run.laboratory.close()


def _explore(run: CellRun, progress: Callable[[int], None], share: Share) -> ShareReport:
    cell = run.cell
    tally = _Tally(run)
    known = _known_before(run)
    if known is not None:
        return tally.decided(*known)
    budget = cell.budget
    strategy = make_strategy(
        budget.strategy, cell.seed, budget.bound, share.index, share.of, reduce=run.factory.seen_whole
    )
    was_fair = False
    for number in _numbers(strategy, share, cell):
        run.laboratory.on_execution = partial(progress, number)
        common, knew = strategy.common, run.laboratory.releases_decide
        execution = run.laboratory.execute(strategy, number)
        if execution is None:
            break
        was_fair |= execution.was_fair  # the kernel chose, and what else could have been chosen was not tried
        if run.laboratory.releases_decide and not knew:
            strategy.start_over()
        tally.add(number, execution, common=common, counts=share.counts(number))
        if not execution.clean or execution.harmed:
            break
    whole_to = strategy.whole_to if tally.clean and not was_fair else -1
    tally.exploration = Exploration(budget.strategy, str(cell.seed), strategy.bound, whole_to)
    tally.repeat_first()
    return tally.report()


def _known_before(run: CellRun) -> tuple[Verdict, str] | None:
    """The verdict that needs no execution, and why, where there is one."""
    expectations = run.expectations
    missing = sorted(set(run.scenario.requires) - run.factory.capabilities - {DYNAMIC_SHAPES})
    if missing:
        return Verdict.NOT_APPLICABLE, f"the service does not declare {', '.join(missing)}"
    if DYNAMIC_SHAPES in run.scenario.requires:
        if not run.dynamic:
            return Verdict.NOT_APPLICABLE, "the model has no dynamic dimension"
        if not expectations.shaped:
            return Verdict.UNKNOWN, "the model did not run on other shapes: give the suite some"
    if run.not_applicable:
        return Verdict.NOT_APPLICABLE, run.not_applicable
    if len(expectations.recipes) < 2 * run.scenario.tasks:
        few = f"the oracle can tell {len(expectations.recipes)} tasks apart, {2 * run.scenario.tasks} are needed"
        return Verdict.UNKNOWN, expectations.unknown or few
    return None


def _numbers(strategy: Search, share: Share, cell: Cell) -> Iterator[int]:
    """The numbers of the executions to run: the share's own, and while they are common, everybody's."""
    deadline = time.monotonic() + cell.budget.seconds if cell.budget.seconds else None
    for number in range(cell.budget.executions):
        if deadline is not None and time.monotonic() > deadline:
            return
        if strategy.common or share.counts(number):
            yield number


class _Tally:
    """What a share's executions add up to."""

    def __init__(self, run: CellRun) -> None:
        self._run = run
        self._began = time.monotonic()
        self._checked: Counter[str] = Counter()
        self._violated: Counter[str] = Counter()
        self._unknown: dict[str, str] = {}
        self._injected: Counter[str] = Counter()
        native = run.laboratory.native
        self._findings: tuple[Finding, ...] = () if native is None else (native.note,)
        self._failures: list[Failure] = []
        self._executions = 0
        self._points = 0
        self._in_native = 0
        self._looks = 0
        self._ran = 0
        self._common = sha256()
        self._first: Execution | None = None
        self._first_number = 0
        self.clean = True
        self._kept = False
        self.exploration = Exploration(run.cell.budget.strategy, str(run.cell.seed))

    def add(self, number: int, execution: Execution, *, common: bool, counts: bool) -> None:
        """Take one execution, and judge it if it counts: one that was given up is part of one that was judged.

        The histories of the common ones, which every share runs, must be the same everywhere.
        """
        self.clean = execution.clean and not execution.harmed
        if common:
            course = f"{execution.choices} {execution.points} {execution.history.digest()}\n"
            self._common.update(course.encode())
        if execution.pruned:
            return
        self._ran += 1
        if self._first is None:
            self._first, self._first_number = execution, number
        if counts:
            self._judge(number, execution)

    def _judge(self, number: int, execution: Execution) -> None:
        self._executions += 1
        self._points += execution.points
        kinds = [event.kind for event in execution.history.events]
        self._looks += kinds.count("process-look")
        self._in_native += kinds.count("in-native")
        self._injected.update(execution.injected)
        self._find(*execution.findings)
        if self._run.concurrent_sessions:
            for session in shared_sessions(Index(execution.history)):
                message = f"several runs were in flight on session {session}, which the runtime allows"
                self._find(Finding("shared-session", message))
        violations: list[Violation] = []
        for invariant, judgement in check_all(execution.history).items():
            self._checked[invariant] += judgement.checked
            if judgement.violations:
                self._violated[invariant] += 1
                violations.extend(judgement.violations)
            if judgement.unknown:
                self._unknown.setdefault(invariant, judgement.unknown)
        for invariant in sorted({violation.invariant for violation in violations}, key=most_telling):
            self._confirm(number, execution, invariant)

    def _confirm(self, number: int, execution: Execution, invariant: str) -> None:
        """Replay a failure at once, unless this invariant has one already; keep it, shrunk, if it repeats."""
        if len(self._failures) >= MOST_FAILURES or any(
            invariant == seen.invariant for kept in self._failures for seen in kept.violations
        ):
            return
        run = self._run
        again = run.laboratory.replay(run.schedule(execution))
        if again.history.digest() != execution.history.digest():
            self._find(Finding("nondeterminism", first_difference(execution.decided, again.decided)))
            return
        # What is done to another process may last, so that whatever is tried after it would seem to do it as well.
        shrinks = not (execution.harmed or again.harmed)
        smallest = shrink(run.laboratory, run.schedule(execution), execution, invariant).execution if shrinks else again
        violations = [
            violation for judgement in check_all(smallest.history).values() for violation in judgement.violations
        ]
        violations.sort(key=lambda violation: most_telling(violation.invariant))
        self._failures.append(failure_of(run.laboratory, run.schedule(smallest), smallest, violations, number))

    def repeat_first(self) -> None:
        """Repeat the first execution: a service that had kept something, such as a cache, would not do the same again.

        All but its first execution would then have begun elsewhere, and what it does on a fresh start was not explored.
        """
        first = self._first
        if first is None or not self.clean or self._ran == 1:
            return
        again = self._run.laboratory.replay(self._run.schedule(first))
        if _course(again) != _course(first):
            self._kept = True
            text = f"something is kept from one execution to the next: {first_difference(first.decided, again.decided)}"
            self._find(Finding("nondeterminism", text))

    def _find(self, *findings: Finding) -> None:
        self._findings = distinct_findings((*self._findings, *findings))

    def decided(self, verdict: Verdict, reason: str) -> ShareReport:
        """The report of a cell whose verdict needs no execution."""
        return ShareReport(self._sums(verdict, reason), decided=True)

    def report(self) -> ShareReport:
        """The report of what was run; the verdict is left to whoever knows all shares."""
        # What a process that ran executions before makes of one is no evidence: a fresh one may not do it.
        fresh = any(failure.execution == self._first_number for failure in self._failures)
        return ShareReport(
            sums=self._sums(Verdict.UNKNOWN, ""),
            confirmed=bool(self._failures) and (fresh or not self._kept),
            in_native=self._in_native,
            blind=self._run.expectations.unknown,
            common=self._common.hexdigest(),
            armed=tuple(fault.name for fault in self._run.cell.faults),
        )

    def _next_model(self) -> str:
        known = self._run.expectations
        tells = bool(known.next_answers) and "model_switch" in self._run.scenario.requires
        return known.next_digest if tells else ""

    def _sums(self, verdict: Verdict, reason: str) -> CellResult:
        run = self._run
        unknown = dict(self._unknown)
        if run.expectations.unknown:
            unknown["own-output"] = run.expectations.unknown
        names = sorted(self._checked.keys() | unknown.keys())
        scenario, digest = run.cell.as_recorded(run.scenario.id, run.scenario.digest)
        return CellResult(
            scenario=scenario,
            scenario_digest=digest,
            model_digest=run.cell.model_digest,
            verdict=verdict,
            reason=reason,
            cell_digest=run.cell.digest,
            requires=run.scenario.requires,
            exercises=run.scenario.exercises,
            native="held" if run.is_held else "atomic",
            oracle="reference",
            next_model_digest=self._next_model(),
            executions=self._executions,
            decision_points=self._points,
            seconds=round(time.monotonic() - self._began, 3),
            exploration=self.exploration,
            faults=tuple(FaultTally(kind, count) for kind, count in sorted(self._injected.items())),
            invariants=tuple(
                InvariantTally(name, self._checked[name], self._violated[name], unknown.get(name, "")) for name in names
            ),
            failures=tuple(self._failures),
            findings=self._findings,
            process_looks=self._looks,
        )


def _course(execution: Execution) -> list[tuple[object, ...]]:
    """What happened in which order, without the time: one more look at a clock makes no other execution."""
    return [(event.thread, event.kind, event.task, event.session, event.attrs) for event in execution.history.events]
