"""The shares of an exploration make up the whole: see `harness/engine/strategies/exhaustive.py`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))  # importlib mode: the other modules lie beside this one
from litmus_control import Control, instrument_the_library
from litmus_programs import load

from harness.engine.strategies.exhaustive import DEALT, Exhaustive
from harness.engine.strategies.portfolio import make_strategy
from harness.suite.plan import Share

NAMES = (
    "locks/a_pair_of_locks_in_two_orders",
    "conditions/an_if_where_a_loop_is_needed",
    "queues/two_puts_into_a_queue_of_one",
    "queues/get_with_time_out_against_put",
    "futures/a_cancel_against_the_run",
)
LARGE = "queues/two_puts_into_a_queue_of_one"
"""Within two preemptions it has 26,000 executions."""
MOST = 30_000


@pytest.fixture(scope="module", autouse=True)
def library():
    undo = instrument_the_library()
    yield
    undo()


@pytest.fixture(scope="module")
def control():
    return Control("greenlets")


PROGRAMS = [program for program in load(instrumented=True) if program.id in NAMES]


def explored(control, program, strategy, share, most=MOST):
    """What one share counts: number and choices of each execution, and its outcomes; and how many it ran."""
    counted, outcomes, ran = [], set(), 0
    for number in range(most):
        if not (strategy.common or share.counts(number)):
            continue
        if not strategy.begin(number):
            break
        outcome, kernel = control.once(program, strategy)
        ran += 1
        if share.counts(number):
            counted.append((number, tuple(kernel.choices)))
        if outcome is not None:
            outcomes.add(outcome)
    return counted, outcomes, ran


def shared(control, program, make, of, most=MOST):
    """All shares, run in turn in this process."""
    counted, outcomes, ran = [], set(), []
    for index in range(of):
        share = Share(index, of)
        strategy = make(share)
        more, seen, runs = explored(control, program, strategy, share, most)
        counted += more
        outcomes |= seen
        ran.append(runs)
        if isinstance(strategy, Exhaustive):
            assert strategy.exhausted
    return sorted(counted), outcomes, ran


@pytest.mark.parametrize(
    ("program", "bound"),
    [(program, bound) for program in PROGRAMS for bound in (0, 1, 2) if bound < 2 or program.id != LARGE],
    ids=lambda each: getattr(each, "id", each),
)
def test_three_shares_run_each_schedule_of_the_space_once(control, program, bound):
    def make(share):
        return Exhaustive(bound, reduce=False, share=share.index, of=share.of)

    whole, outcomes, (executions,) = shared(control, program, make, 1)
    dealt, found, ran = shared(control, program, make, 3)
    assert sorted(choices for _, choices in dealt) == sorted(choices for _, choices in whole)
    assert len({choices for _, choices in dealt}) == len(dealt)
    assert found == outcomes
    if executions > 20 * DEALT:
        assert max(ran) < 0.6 * executions, "the work is shared"


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.id)
@pytest.mark.parametrize("bound", [1, 2])
def test_three_shares_with_the_reduction_see_every_outcome(control, program, bound):
    def make(share):
        return Exhaustive(bound, reduce=True, share=share.index, of=share.of)

    _, whole, _ = shared(control, program, make, 1)
    _, found, _ = shared(control, program, make, 3)
    assert found == whole


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.id)
@pytest.mark.parametrize("name", ["random", "pos", "pct", "portfolio"])
def test_three_shares_of_a_numbered_strategy_make_the_same_executions(control, program, name):
    def make(share):
        return make_strategy(name, 7, share=share.index, of=share.of)

    whole, _, _ = shared(control, program, make, 1, most=40)
    dealt, _, _ = shared(control, program, make, 3, most=40)
    assert len(whole) == 40
    assert dealt == whole


def test_the_programs_are_there():
    assert len(PROGRAMS) == len(NAMES)
