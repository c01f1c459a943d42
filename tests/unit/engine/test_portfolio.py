"""The portfolio takes turns: the default order, everything that leaves it once, sampling, PCT and a random walk."""

from __future__ import annotations

import threading

import pytest

from harness.engine.strategies.exhaustive import Exhaustive
from harness.engine.strategies.portfolio import EVERY, Portfolio


def two_threads_and_a_lock(trace):
    lock = threading.Lock()
    changed = threading.Event()

    def take(name):
        with lock:
            trace.append(name)
        changed.wait(0.1)
        changed.set()

    threads = [threading.Thread(target=take, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def first_generation(bench):
    """How many executions differ from the default one by one choice, with at most one preemption."""
    search = Exhaustive(1, reduce=False)
    bench.once(two_threads_and_a_lock, search, 0)
    return sum(map(len, search._levels))


@pytest.fixture
def numbers(bench):
    """The numbers of the executions whose turn is a deviation's."""
    return range(EVERY, EVERY * (first_generation(bench) + 1), EVERY)


def choices(bench, numbers, seed=3):
    portfolio = Portfolio(seed)
    return [tuple(bench.once(two_threads_and_a_lock, portfolio, number).kernel.choices) for number in (0, *numbers)]


def test_each_way_to_leave_the_default_order_once_is_taken_once(bench, numbers):
    default, *left = choices(bench, numbers)
    assert default == ()
    assert len(left) > 10
    assert all(len(each) == 1 for each in left)
    assert len(set(left)) == len(left)


def test_another_seed_takes_them_in_another_order(bench, numbers):
    one, other = choices(bench, numbers), choices(bench, numbers, seed=4)
    assert one != other
    assert set(one) == set(other)


def test_an_execution_is_the_same_whatever_else_was_run(bench, numbers):
    every = choices(bench, range(1, numbers[-1] + 1))
    for number in (1, 2, EVERY, numbers[-1]):
        assert choices(bench, [number])[1] == every[number]


def test_when_all_have_been_taken_the_turn_is_the_others(bench, numbers):
    after = choices(bench, [numbers[-1] + EVERY * more for more in range(1, 9)])[1:]
    assert sum(len(each) > 1 for each in after) > 1
