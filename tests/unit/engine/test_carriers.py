"""The same schedule gives the same execution on real threads and on greenlets."""

from __future__ import annotations

import threading

import pytest

from harness.engine.real import get_native_id
from harness.engine.strategies.portfolio import make_strategy


@pytest.fixture
def greenlets(bench):
    return type(bench)("greenlets")


@pytest.mark.parametrize("strategy", ["random", "pos", "pct", "portfolio"])
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


@pytest.mark.parametrize("carrier", ["bench", "greenlets"])
def test_a_thread_has_the_native_id_of_what_carries_it(carrier, request):
    def program(trace):
        threads = [threading.Thread(target=lambda: trace.append(get_native_id())) for _ in range(2)]
        for thread in threads:
            thread.start()
        told = [thread.native_id for thread in threads]
        for thread in threads:
            thread.join()
        return told, sorted(trace)

    told, carried = request.getfixturevalue(carrier).once(program, make_strategy("scripted", 1), 0).result
    assert sorted(told) == carried
    assert (len(set(told)) == 2) is (carrier == "bench")
