"""Run one cell: explore executions within a budget, judge each, replay and shrink what fails."""

from __future__ import annotations

import os
import time  # noqa: TID251 - a budget may be given in seconds of real time
from collections import Counter
from collections.abc import Callable, Iterator

from adapters.base import Grain, ModelFile, Sharing
from harness.engine.carriers.carrier import Carriers
from harness.engine.carriers.cores import choose_core
from harness.engine.carriers.os_thread import OsThreadCarriers
from harness.engine.install import install, installed
from harness.engine.strategies.portfolio import make_strategy
from harness.execution.controlled import Execution, Laboratory
from harness.execution.services import Factory, load_factory
from harness.execution.shrink import shrink
from harness.execution.tasks import ROUNDS, CellTasks
from harness.invariants.catalogue import check_all
from harness.invariants.index import Index
from harness.invariants.one_task_per_session import shared_sessions
from harness.models.registry import load_adapter
from harness.oracle.expectations import Expectations
from harness.scenario import Scenario
from harness.schedule import Schedule
from harness.suite.plan import CORE, Cell
from harness.verdict import CellResult, Exploration, Failure, FaultTally, Finding, InvariantTally, Verdict, Violation

__all__ = ["CellRun", "run_cell"]

DECIDES_NOTHING = frozenset({"shared-session", "thread-left", "gate-opened", "unattributed", "thread-died"})
"""Findings that a person should read and that leave the verdict alone."""
MOST_FAILURES = 8
MOST_FINDINGS = 16


class CellRun:
    """A cell that is ready to be executed, again and again, on the thread that made it.

    Loads all that the cell names: raises UnknownServiceError or the adapter's errors. `code` is the digest, cut to 8
    digits, of the code whose decision points a schedule counts. The laboratory must be closed.
    """

    def __init__(self, cell: Cell, scenario: Scenario, model: ModelFile, expectations: Expectations) -> None:
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
        self.concurrent_sessions = probe.sharing is Sharing.CONCURRENT_RUN
        probe.close()
        at_statements = cell.budget.granularity == "statement"
        if at_statements and not self.factory.instrumented:
            message = "statement granularity was asked for, but the service's module is not instrumented"
            raise RuntimeError(message)
        held = self.scenario.native == "held"
        self.cannot_hold = ""
        if held and not any(spec.name == ROUNDS for spec in contract.inputs):
            self.cannot_hold = "runs are held inside native code with builtin:slow"
        elif held and grain is Grain.NONE:
            self.cannot_hold = f"{cell.target.adapter} cannot interrupt a run"
        tasks = CellTasks(contract, expectations, endless=held and not self.cannot_hold)
        core = choose_core(int(os.environ.get(CORE, "0")))
        carriers = _carriers("threads" if held else cell.budget.carrier, core)
        self.laboratory = Laboratory(
            self.scenario, self.factory, adapter, model, cell.target, tasks, carriers, at_statements=at_statements
        )
        self.expectations = expectations

    def schedule(self, execution: Execution) -> Schedule:
        """The schedule of one execution, bound to this cell and to the code of service and scenario."""
        return Schedule(self.cell.digest[:12], self.code, execution.choices)


def _carriers(kind: str, core: int | None) -> Carriers:
    if kind == "greenlets":
        from harness.engine.carriers.greenlets import GreenletCarriers  # noqa: PLC0415 - an optional package

        return GreenletCarriers()
    return OsThreadCarriers(core)


def run_cell(
    cell: Cell, scenario: Scenario, model: ModelFile, expectations: Expectations, progress: Callable[[int], None]
) -> CellResult:
    """Explore the cell within its budget. `progress` hears the number of each execution before it begins."""
    run = CellRun(cell, scenario, model, expectations)
    try:
        return _explore(run, progress)
    finally:
        run.laboratory.close()


def _explore(run: CellRun, progress: Callable[[int], None]) -> CellResult:
    cell, expectations = run.cell, run.expectations
    tally = _Tally(run)
    missing = sorted(set(run.scenario.requires) - run.factory.capabilities)
    if missing:
        return tally.result(Verdict.NOT_APPLICABLE, f"the service does not declare {', '.join(missing)}")
    if run.cannot_hold:
        return tally.result(Verdict.NOT_APPLICABLE, run.cannot_hold)
    if len(expectations.recipes) < 2 * run.scenario.tasks:
        few = f"the oracle can tell {len(expectations.recipes)} tasks apart, {2 * run.scenario.tasks} are needed"
        return tally.result(Verdict.UNKNOWN, expectations.unknown or few)
    strategy = make_strategy(cell.budget.strategy, cell.seed, cell.budget.bound)
    tally.bound = strategy.bound
    deadline = time.monotonic() + cell.budget.seconds if cell.budget.seconds else None
    for number in range(cell.budget.executions):
        if deadline is not None and time.monotonic() > deadline:
            break
        progress(number)
        execution = run.laboratory.execute(strategy, number)
        if execution is None:
            tally.exhausted = strategy.name == "exhaustive"
            break
        tally.add(number, execution)
        if not execution.clean:
            break
    tally.repeat_first()
    return tally.judged()


class _Tally:
    """What a cell's executions add up to."""

    def __init__(self, run: CellRun) -> None:
        self._run = run
        self._began = time.monotonic()
        self._checked: Counter[str] = Counter()
        self._violated: Counter[str] = Counter()
        self._unknown: dict[str, str] = {}
        self._injected: Counter[str] = Counter()
        self._findings: dict[tuple[str, str], Finding] = {}
        self._failures: list[Failure] = []
        self._executions = 0
        self._points = 0
        self._in_native = 0
        self._first: Execution | None = None
        self._clean = True
        self._kept = False
        self.exhausted = False
        self.bound = -1

    def add(self, number: int, execution: Execution) -> None:
        """Judge one execution; one that was given up is part of one that was judged."""
        if execution.pruned:
            return
        self._executions += 1
        self._first = self._first or execution
        self._clean = execution.clean
        self._points += execution.points
        self._in_native += sum(event.kind == "in-native" for event in execution.history.events)
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
        for invariant in sorted({violation.invariant for violation in violations}, key=_most_telling):
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
            self._find(Finding("nondeterminism", _first_difference(execution, again)))
            return
        smallest = shrink(run.laboratory, run.schedule(execution), execution, invariant)
        violations = [
            violation for judgement in check_all(smallest.history).values() for violation in judgement.violations
        ]
        violations.sort(key=lambda violation: _most_telling(violation.invariant))
        self._failures.append(
            Failure(
                tuple(violations),
                run.schedule(smallest).token(),
                smallest.history.digest(),
                number,
                smallest.history.events,
                smallest.blocked,
            )
        )

    def repeat_first(self) -> None:
        """Repeat the first execution: a service that had kept something, such as a cache, would not do the same again.

        All but its first execution would then have begun elsewhere, and what it does on a fresh start was not explored.
        """
        first = self._first
        if first is None or not self._clean or self._executions == 1:
            return
        again = self._run.laboratory.replay(self._run.schedule(first))
        if _course(again) != _course(first):
            self._kept = True
            text = f"something is kept from one execution to the next: {_first_difference(first, again)}"
            self._find(Finding("nondeterminism", text))

    def _find(self, *findings: Finding) -> None:
        for finding in findings:
            # One that decides the verdict is kept however many of the others there are.
            if len(self._findings) < MOST_FINDINGS or finding.kind not in DECIDES_NOTHING:
                self._findings.setdefault((finding.kind, finding.message), finding)

    def judged(self) -> CellResult:
        """The verdict over all executions."""
        # What a process that ran executions before makes of one is no evidence: a fresh one may not do it.
        if self._failures and not (self._kept and all(failure.execution for failure in self._failures)):
            self._failures.sort(key=lambda failure: _most_telling(failure.violations[0].invariant))
            first = self._failures[0].violations[0]
            return self.result(Verdict.FAIL, f"{first.invariant}: {first.message}")
        why = next(self._doubts(), "")
        return self.result(Verdict.UNKNOWN if why else Verdict.PASS, why)

    def _doubts(self) -> Iterator[str]:
        """Every reason for which executions without a confirmed violation do not make a PASS."""
        exercised = self._run.scenario.exercises
        yield from (finding.message for finding in self._findings.values() if finding.kind not in DECIDES_NOTHING)
        yield from (f"{invariant} was violated, but no replay confirmed it" for invariant in self._violated)
        if self._run.scenario.native == "held" and not self._in_native:
            yield "no run was held inside native code"
        expectations = self._run.expectations
        if expectations.unknown and "own-output" in exercised:
            yield expectations.unknown
        yield from (
            f"the premise of {invariant} never occurred" for invariant in exercised if not self._checked[invariant]
        )
        for invariant, why in self._unknown.items():
            if invariant in exercised or why.startswith("checker crashed"):
                yield f"{invariant}: {why}"

    def result(self, verdict: Verdict, reason: str) -> CellResult:
        """The cell's result with this verdict."""
        run = self._run
        unknown = dict(self._unknown)
        if run.expectations.unknown:
            unknown["own-output"] = run.expectations.unknown
        names = sorted(self._checked.keys() | unknown.keys())
        budget = run.cell.budget
        return CellResult(
            scenario=run.scenario.id,
            scenario_digest=run.scenario.digest,
            model_digest=run.cell.model_digest,
            verdict=verdict,
            reason=reason,
            cell_digest=run.cell.digest,
            requires=run.scenario.requires,
            exercises=run.scenario.exercises,
            native=run.scenario.native,
            oracle="reference",
            executions=self._executions,
            decision_points=self._points,
            seconds=round(time.monotonic() - self._began, 3),
            exploration=Exploration(budget.strategy, str(run.cell.seed), self.bound, self.exhausted),
            faults=tuple(FaultTally(kind, count) for kind, count in sorted(self._injected.items())),
            invariants=tuple(
                InvariantTally(name, self._checked[name], self._violated[name], unknown.get(name, "")) for name in names
            ),
            failures=tuple(self._failures),
            findings=tuple(self._findings.values()),
        )


def _most_telling(invariant: str) -> tuple[bool, str]:
    """A wrong answer to the wrong user comes before what led to it."""
    return (invariant != "own-output", invariant)


def _course(execution: Execution) -> list[tuple[object, ...]]:
    """What happened in which order, without the time: one more look at a clock makes no other execution."""
    return [(event.thread, event.kind, event.task, event.session, event.attrs) for event in execution.history.events]


def _first_difference(one: Execution, other: Execution) -> str:
    for a, b in zip(one.history.events, other.history.events, strict=False):
        if a != b:
            return f"a replay differs at event {a.seq}: {a.thread} {a.kind} became {b.thread} {b.kind}"
    return f"a replay has {len(other.history.events)} events, the execution had {len(one.history.events)}"
