"""Replay a schedule and compare what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from adapters.base import ModelFile
from harness.engine.strategies.replay import Replay
from harness.execution.cell import CellRun
from harness.execution.controlled import Execution
from harness.execution.display import failure_of
from harness.invariants.catalogue import check_all
from harness.observe.neighbour import Neighbour
from harness.oracle.expectations import Expectations
from harness.scenario import Scenario
from harness.schedule import Schedule
from harness.suite.plan import Cell
from harness.verdict import Failure

__all__ = ["CannotReplayError", "ReplayReport", "replay"]


class CannotReplayError(Exception):
    """What struck in the cell cannot strike here: nothing would be shown. The text says why, in one line."""


class ReplayReport(msgspec.Struct, frozen=True):
    """The history digest of each replay, the failure of the last one, and where the schedule could not be followed."""

    digests: tuple[str, ...]
    failure: Failure | None
    divergence: str


def replay(
    cell: Cell,
    scenario: Scenario,
    model: ModelFile,
    expectations: Expectations,
    schedule: Schedule,
    times: int,
    progress: Callable[[int], None],
    next_model: ModelFile | None = None,
    neighbour: Neighbour | None = None,
) -> ReplayReport:
    """Replay a schedule `times` times, once at least. A stale one is followed as far as it goes, and is named so.

    `progress` hears the number of each replay before it begins, and of the last before it is shown. Raises
    CannotReplayError.
    """
    run = CellRun(cell, scenario, model, expectations, next_model, neighbour)
    if run.not_applicable:
        run.laboratory.close()
        raise CannotReplayError(run.not_applicable)
    run.laboratory.releases_decide = True
    strategy = Replay(schedule)
    digests: list[str] = []
    divergence = (
        ""
        if schedule.code == run.code
        else "the code of the service or the scenario has changed since the token was made"
    )
    failure: Failure | None = None
    execution: Execution | None = None
    for number in range(max(1, times)):
        run.laboratory.on_execution = partial(progress, number)
        execution = run.laboratory.execute(strategy, number, leave_out=schedule.left_out)
        assert execution is not None, "a replay has one execution"
        digests.append(execution.history.digest())
        if strategy.divergence:
            divergence = strategy.divergence
    assert execution is not None, "it was replayed once at least"
    violations = [violation for found in check_all(execution.history).values() for violation in found.violations]
    if violations:
        failure = failure_of(run.laboratory, run.schedule(execution), execution, violations, len(digests) - 1)
    run.laboratory.close()
    return ReplayReport(tuple(digests), failure, divergence)
