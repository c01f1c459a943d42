"""The exhaustive search goes from the fewest preemptions to more, and knows how far it has come."""

from __future__ import annotations

import threading

import pytest

from harness.engine.strategies.exhaustive import Exhaustive

BOUND = 2


def counts(total):

    def add():
        seen = len(total)
        lock.acquire()
        lock.release()
        total.append(seen)

    lock = threading.Lock()
    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tuple(total)


def schedules(bench, search, until):
    """What was run until the search said that it is whole so far, schedule by schedule."""
    ran = []
    while search.whole_to < until:
        execution = bench.search(counts, search, len(ran))
        assert execution is not None, "the search ended without saying how far it came"
        ran.append(tuple(execution.kernel.choices))
    return ran


@pytest.mark.parametrize("until", range(BOUND + 1))
def test_what_it_calls_whole_is_what_a_search_with_that_bound_exhausts(bench, until):
    ran = schedules(bench, Exhaustive(BOUND, reduce=False), until)
    alone = Exhaustive(until, reduce=False)
    assert sorted(ran) == sorted(schedules(bench, alone, until))
    assert bench.search(counts, alone, len(ran)) is None
    assert alone.exhausted


def test_before_the_first_execution_nothing_is_whole():
    assert Exhaustive(BOUND).whole_to == -1


def test_a_search_that_starts_over_has_come_nowhere(bench):
    search = Exhaustive(BOUND, reduce=False)
    schedules(bench, search, 1)
    search.start_over()
    assert search.whole_to == -1
