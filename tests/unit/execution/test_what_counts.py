"""What decides a verdict is never crowded out, and a repetition is no execution."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harness.engine.strategies.portfolio import make_strategy
from harness.execution.cell import _Tally
from harness.execution.client import _is_outcome
from harness.execution.share import MOST_FINDINGS
from harness.suite.plan import Budget
from harness.supervisor.pair import _tasks
from harness.verdict import Finding


def test_a_finding_that_decides_is_kept_behind_many_that_do_not():
    run: Any = SimpleNamespace(laboratory=SimpleNamespace(native=None), cell=SimpleNamespace(budget=Budget(), seed=1))
    tally: Any = _Tally(run)
    for number in range(MOST_FINDINGS + 1):
        tally._find(Finding("thread-died", f"service-{number} died"))
    tally._find(Finding("uncontrolled", "a thread ran on without control"))
    assert Finding("uncontrolled", "a thread ran on without control") in tally._findings


def test_the_default_order_is_one_execution():
    scripted = make_strategy("scripted", 1)
    assert [scripted.begin(number) for number in range(3)] == [True, False, False]


class Bare:
    """No more than the contract asks for."""

    def __init__(self, ended_with: Exception | None) -> None:
        self._ended_with = ended_with

    def done(self) -> bool:
        return self._ended_with is not None

    def result(self, _timeout: float | None = None) -> None:
        raise self._ended_with or TimeoutError


@pytest.mark.parametrize(("ended_with", "outcome"), [(None, False), (TimeoutError(), True), (ValueError(), False)])
def test_a_future_of_result_cancel_and_done_tells_an_outcome_from_a_wait_that_ended(ended_with, outcome):
    assert _is_outcome(Bare(ended_with), TimeoutError()) is outcome


@pytest.mark.parametrize(
    ("slots", "capacity", "tasks"), [(1, -1, 7), (2, 2, 7), (4, 2, 11), (1, 8, 13), (2, 10_000, 263)]
)
def test_the_oracle_tells_apart_as_many_tasks_as_fill_workers_and_queue(slots, capacity, tasks):
    service: Any = SimpleNamespace(slots=slots, capacity=capacity)
    scenarios: Any = [SimpleNamespace(tasks=5), SimpleNamespace(tasks=7)]
    assert _tasks(scenarios, service) == 2 * tasks
