"""The reduced search of programs that nobody thought of shows the outcomes that the whole one shows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))  # importlib mode: the other modules lie beside this one
from litmus_control import Control, instrument_the_library
from random_programs import program, source

from harness.engine.strategies.exhaustive import DEALT, Exhaustive

MOST = 600
"""Executions of a space without the reduction: a larger one is not compared."""
MOST_IN_A_SOAK = 20_000
SOAK_PROGRAMS = 400


@pytest.fixture(scope="module")
def control():
    undo = instrument_the_library()
    yield Control("greenlets")
    undo()


def outcomes(seen):
    """Without the names of the threads that were left: those are numbered in the order of their starts."""
    return {(outcome.result, len(outcome.left), len(outcome.died)) for outcome in seen}


def in_shares(control, searched, bound, statements):
    """What three shares of a search see together."""
    seen = set()
    for index in range(3):
        strategy = Exhaustive(bound, share=index, of=3)
        while strategy.begin(0):
            outcome, _ = control.once(searched, strategy, statements=statements)
            seen |= {outcome} - {None}
        assert strategy.exhausted
    return seen


def compared(control, seed, most):
    """Compare the searches of one program, and return the executions of those that were small enough to compare."""
    ran, searched = [0, 0], program(seed)
    for statements in (False, True):
        for bound in (1, 2, 3):
            whole = control.exhaust(searched, bound, reduce=False, statements=statements, most=most)
            if not whole.whole:
                break
            reduced = control.exhaust(searched, bound, reduce=True, statements=statements)
            assert outcomes(reduced.outcomes) == outcomes(whole.outcomes), (bound, statements, source(seed, 4))
            if reduced.executions > 3 * DEALT:
                seen = in_shares(control, searched, bound, statements)
                assert outcomes(seen) == outcomes(whole.outcomes), (bound, statements, source(seed, 4))
            ran = [ran[0] + whole.executions, ran[1] + reduced.executions]
    return ran


def test_the_reduction_leaves_no_outcome_out_of_random_programs(control):
    ran = [compared(control, seed, MOST) for seed in range(30)]
    whole, reduced = (sum(each) for each in zip(*ran, strict=True))
    assert sum(each[0] > 1 for each in ran) >= 20, "most of them are compared"
    assert reduced * 4 < whole, "the reduction leaves most of the executions out"


@pytest.mark.soak
@pytest.mark.parametrize("group", range(20))
def test_the_reduction_leaves_no_outcome_out_of_many_random_programs(control, group):
    for seed in range(1_000 + group, 1_000 + SOAK_PROGRAMS, 20):
        compared(control, seed, MOST_IN_A_SOAK)
