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
    _together(add, add)
    return tuple(total)


def _together(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


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


def executions(bench, program, search):
    return sum(1 for _ in iter(lambda: bench.search(program, search, 0), None))


def _step(lock):
    lock.acquire()
    lock.release()


def test_nobody_is_stopped_before_a_step_that_concerns_nobody_else(bench):

    def apart(_trace):
        locks = [threading.Lock() for _ in range(2)]
        _together(*(lambda lock=lock: [_step(lock) for _ in range(3)] for lock in locks))

    assert executions(bench, apart, Exhaustive(2)) * 10 < executions(bench, apart, Exhaustive(2, reduce=False))


def test_nobody_is_stopped_where_the_others_would_only_wait(bench):
    """Within a lock that the others need for all that they do, a step races with none of theirs."""

    def program(steps):
        lock, inner = threading.Lock(), threading.Lock()

        def within():
            with lock:
                for _ in range(steps):
                    _step(inner)

        _together(within, within)

    few, many = (executions(bench, lambda _trace, steps=steps: program(steps), Exhaustive(2)) for steps in (2, 20))
    assert few == many


def test_before_the_first_execution_nothing_is_whole():
    assert Exhaustive(BOUND).whole_to == -1


def test_a_search_that_starts_over_has_come_nowhere(bench):
    search = Exhaustive(BOUND, reduce=False)
    schedules(bench, search, 1)
    search.start_over()
    assert search.whole_to == -1
