"""The same schedule gives the same execution on real threads and on greenlets."""

from __future__ import annotations

import pytest

from harness.engine.strategies.portfolio import make_strategy


@pytest.fixture
def greenlets(bench):
    return type(bench)("greenlets")


@pytest.mark.parametrize("strategy", ["random", "pct", "portfolio"])
def test_both_carriers_make_the_same_executions(bench, greenlets, busy_program, strategy):
    on_threads, on_greenlets = (
        [
            (run.result, run.left, run.kernel.choices, run.kernel.points)
            for run in carrier.many(busy_program, 40, strategy, seed=3)
        ]
        for carrier in (bench, greenlets)
    )
    assert on_threads == on_greenlets
    assert len({tuple(choices) for _, _, choices, _ in on_threads}) > 10


def test_a_schedule_found_on_one_replays_on_the_other(bench, greenlets, busy_program):
    found = greenlets.once(busy_program, make_strategy("random", 9), 5)
    assert bench.replay(busy_program, found).result == found.result
    assert greenlets.replay(busy_program, found).result == found.result
