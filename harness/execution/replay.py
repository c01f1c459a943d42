"""Replay a schedule and compare what comes of it."""

from __future__ import annotations

import msgspec

from adapters.base import ModelFile
from harness.engine.strategies.replay import Replay
from harness.execution.cell import CellRun
from harness.invariants.catalogue import check_all
from harness.oracle.expectations import Expectations
from harness.scenario import Scenario
from harness.schedule import Schedule
from harness.suite.plan import Cell
from harness.verdict import Failure

__all__ = ["ReplayReport", "replay"]


class ReplayReport(msgspec.Struct, frozen=True):
    """The history digest of each replay, the failure of the last one, and where the schedule could not be followed."""

    digests: tuple[str, ...]
    failure: Failure | None
    divergence: str


def replay(
    cell: Cell, scenario: Scenario, model: ModelFile, expectations: Expectations, schedule: Schedule, times: int
) -> ReplayReport:
    """Replay a schedule `times` times, once at least. A stale one is followed as far as it goes, and is named so."""
    run = CellRun(cell, scenario, model, expectations)
    strategy = Replay(schedule)
    digests: list[str] = []
    divergence = (
        ""
        if schedule.code == run.code
        else "the code of the service or the scenario has changed since the token was made"
    )
    failure: Failure | None = None
    for number in range(max(1, times)):
        execution = run.laboratory.execute(strategy, number)
        assert execution is not None, "a replay has one execution"
        digests.append(execution.history.digest())
        if strategy.divergence:
            divergence = strategy.divergence
        violations = tuple(
            violation for judgement in check_all(execution.history).values() for violation in judgement.violations
        )
        token = run.schedule(execution).token()
        failure = (
            Failure(violations, token, digests[-1], number, execution.history.events, execution.blocked)
            if violations
            else None
        )
    run.laboratory.close()
    return ReplayReport(tuple(digests), failure, divergence)
