"""Runs every scenario of a plan on one target and one service, and makes the record."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from harness.oracle.expectations import Expectations
from harness.suite.plan import Budget, Cell, FaultSpec, ServiceSpec
from harness.supervisor.blank import (
    cell_without_result,
    reason_of,
    unknown_device,
    unknown_scenario,
    unknown_service,
    verdict_of,
)
from harness.supervisor.cell_file import CellFile, cell_file
from harness.supervisor.cells import PlanError, Watcher
from harness.supervisor.crew import Crew
from harness.supervisor.death import Death
from harness.supervisor.journal import FORGETFUL, Journal, content_digest, pair_facts
from harness.supervisor.oracle import Oracles, Question
from harness.supervisor.process import Worker
from harness.supervisor.staff import Refusal, Staff
from harness.verdict import CellResult, DeviceRecord, Measured, ServiceRecord, Verdict
from harness.worker.protocol import AdapterParams, DescribeParams, Description, ErrorReport, Probe, ScenarioRecord

if TYPE_CHECKING:
    from adapters.base import ModelFile
    from harness.supervisor.neighbour import NeighbourProcess

__all__ = ["Pair", "PairResult", "run_id", "run_pair", "timestamp"]

TASKS_OF_A_SHAPE = 4
"""Of each further shape, in a scenario in which shapes change."""
MOST_EXTRA_TASKS = 256
"""Each costs the oracle two fresh sessions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """What is run: one target (the staff's), one service, some scenarios. `more` hold a worker each beside the staff's.

    A worker of `more` explores side by side with the others: see `harness.supervisor.crew`.
    The `neighbour` is asked how it is while faults strike.
    `measures` are the services, this one among them, that are measured on the target; empty for none.
    """

    staff: Staff
    more: tuple[Staff, ...] = ()
    model: ModelFile
    next_model: ModelFile | None = None
    measures: tuple[ServiceSpec, ...] = ()
    service: ServiceSpec
    scenarios: tuple[str, ...]
    budget: Budget
    seed: int
    faults: tuple[FaultSpec, ...] = ()
    neighbour: NeighbourProcess | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairResult:
    """What was found. `expectations` is None without an oracle; `started_on`: when the pair was first begun."""

    started_on: str

    cells: tuple[CellResult, ...]
    files: tuple[CellFile, ...]
    expectations: Expectations | None
    device: DeviceRecord
    service: ServiceRecord
    measured: Measured = field(default_factory=Measured)


def timestamp() -> str:
    """Now, as RFC 3339 in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def run_id(target: str, service: str) -> str:
    """A name for one run's folder: when, what, and four digits so that two runs in one second differ."""
    plain = "".join(letter if letter.isalnum() else "-" for letter in service.rpartition(":")[2].lower()).strip("-")
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{target}-{plain}-{secrets.token_hex(2)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Greeting:
    """What the first worker said about the target, the device, the service and the scenarios."""

    device: DeviceRecord
    description: Description | None
    refusal: Refusal | None


def run_pair(pair: Pair, oracles: Oracles, watcher: Watcher, journal: Journal = FORGETFUL) -> PairResult:
    """Run one pair, but for the cells whose results the journal has.

    Raises PlanError where the service or a scenario does not exist, or is not what it was when the pair was begun, and
    OSError where the journal cannot be written.
    """
    name, now = pair.staff.target.name, timestamp()
    watcher.stage(name, pair.service.name, "starting a worker")
    worker = pair.staff.start("cells")
    first = worker if isinstance(worker, Worker) else None
    staffs = (pair.staff, *pair.more)
    crew = Crew(staffs, pair.model, pair.service.name, watcher, first, journal, pair.next_model, pair.neighbour)
    try:
        greeting = _greet(pair, worker)
        if greeting.refusal is not None or greeting.description is None:
            refusal = greeting.refusal or Death(Verdict.CRASHED, "did not come up")
            return _nothing_ran(pair, greeting, refusal, watcher, now)
        watcher.stage(name, pair.service.name, "computing expected outputs")
        scenarios = greeting.description.scenarios
        question = _question(pair, scenarios, greeting.description.service)
        expected = oracles.ask(pair.staff, pair.model, question)
        if not isinstance(expected, Expectations):
            return _nothing_ran(pair, greeting, expected, watcher, now)
        facts = pair_facts(greeting.device, greeting.description, expected)
        key = content_digest((pair.staff.target, pair.service, pair.model.digest, pair.scenarios))
        started = journal.begin(key, f"target {name}, service {pair.service.name}", facts, now)
        cells = tuple(_cell(pair, scenario.reference) for scenario in scenarios)
        results = crew.run(cells, scenarios, expected)
        return PairResult(
            started_on=started,
            cells=results,
            files=_files(pair, cells, results, expected),
            expectations=expected,
            device=greeting.device,
            service=greeting.description.service,
            measured=oracles.measured(pair.staff, pair.model, pair.service) if pair.measures else Measured(),
        )
    finally:
        crew.close()


def _question(pair: Pair, scenarios: Sequence[ScenarioRecord], service: ServiceRecord) -> Question:
    needs = {need for scenario in scenarios for need in scenario.requires}
    return Question(
        seed=pair.seed,
        tasks=_tasks(scenarios, service),
        shaped=TASKS_OF_A_SHAPE if "dynamic-shapes" in needs else 0,
        next_model=pair.next_model if "model_switch" in needs else None,
        services=pair.measures,
    )


def _tasks(scenarios: Sequence[ScenarioRecord], service: ServiceRecord) -> int:
    """As many distinct inputs as the largest scenario uses, and a decoy for each.

    A scenario counts its tasks for two workers and two places: one that fills the workers and the queue needs more.
    """
    more = 2 * max(0, service.slots - 2) + max(0, service.capacity - 2)
    return 2 * (max((scenario.tasks for scenario in scenarios), default=1) + min(more, MOST_EXTRA_TASKS))


def _greet(pair: Pair, worker: Worker | Refusal) -> _Greeting:
    if not isinstance(worker, Worker):
        return _Greeting(device=unknown_device(), description=None, refusal=worker)
    device = worker.ask("device", {}, DeviceRecord)
    if not isinstance(device, DeviceRecord):
        return _Greeting(device=unknown_device(), description=None, refusal=device)
    probe = worker.ask("probe", AdapterParams(pair.staff.target.adapter), Probe)
    refusal = _missing(probe) if isinstance(probe, Probe) else probe
    # A missing runtime does not hide a wrong name: the service and the scenarios are looked up all the same.
    answer = worker.ask("describe", DescribeParams(pair.service, pair.scenarios), Description)
    if isinstance(answer, ErrorReport) and answer.kind == "usage":
        raise PlanError(answer.message)
    description = answer if isinstance(answer, Description) else None
    if refusal is None and not isinstance(answer, Description):
        refusal = answer
    return _Greeting(device=device, description=description, refusal=refusal)


def _missing(probe: Probe) -> ErrorReport | None:
    if probe.importable:
        return None
    install = f"; install it with: {probe.install}" if probe.install else ""
    return ErrorReport("unavailable", "UnavailableError", f"{probe.why_not or 'not installed'}{install}")


def _cell(pair: Pair, scenario: str) -> Cell:
    return Cell(scenario, pair.staff.target, pair.service, pair.model.digest, pair.budget, pair.seed, pair.faults)


def _nothing_ran(pair: Pair, greeting: _Greeting, refusal: Refusal, watcher: Watcher, started: str) -> PairResult:
    """Every cell with the same reason: what happened would have happened to each."""
    described = greeting.description
    scenarios = described.scenarios if described else tuple(unknown_scenario(name) for name in pair.scenarios)
    stopped = pair.staff.stopped
    verdict = Verdict.NOT_RUN if stopped else verdict_of(refusal)
    reason = "the run was interrupted" if stopped else _before_any(refusal)
    cells = tuple(
        cell_without_result(_cell(pair, scenario.reference), scenario, verdict, reason) for scenario in scenarios
    )
    for cell in cells:
        watcher.finished(pair.staff.target.name, pair.service.name, cell)
    return PairResult(
        started_on=started,
        cells=cells,
        files=(),
        expectations=None,
        device=greeting.device,
        service=described.service if described else unknown_service(pair.service),
    )


def _before_any(refusal: Refusal) -> str:
    where = ", before any cell ran" if isinstance(refusal, Death) else ""
    return f"{reason_of(refusal)}{where}"


def _files(
    pair: Pair, cells: Sequence[Cell], results: Sequence[CellResult], expectations: Expectations
) -> tuple[CellFile, ...]:
    return tuple(
        cell_file(cell, expectations, pair.model.suffix, result)
        for cell, result in zip(cells, results, strict=True)
        if result.failures
    )
