"""Partial order sampling: who waits while others go a long way is found, and timers take part."""

from __future__ import annotations

import threading

from harness.engine.strategies.pos import PartialOrderSampling
from harness.engine.strategies.random_walk import RandomWalk

LONG = 20


def overtaken(trace):
    """One step of one thread, and many of another."""
    lock = threading.Lock()

    def step(name, steps):
        for _ in range(steps):
            with lock:
                trace.append(name)

    threads = [threading.Thread(target=step, args=each) for each in (("few", 1), ("many", LONG))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def places(bench, strategy, executions=100):
    """After how many of the others' steps the one step came, in each execution."""
    return [bench.once(overtaken, strategy, number).trace.index("few") for number in range(executions)]


def test_a_step_may_wait_as_long_as_the_others_have_something_to_do(bench):
    found = places(bench, PartialOrderSampling(1))
    assert min(found) == 0
    assert max(found) == LONG
    assert max(places(bench, RandomWalk(1))) < LONG // 2


def test_an_execution_is_the_same_whatever_else_was_run(bench):
    every = [bench.once(overtaken, PartialOrderSampling(3), number).kernel.choices for number in range(8)]
    series = PartialOrderSampling(3)
    assert [bench.once(overtaken, series, number).kernel.choices for number in range(8)] == every
    assert bench.once(overtaken, series, 5).kernel.choices == every[5]
    assert len(set(map(tuple, every))) > 4
    assert bench.once(overtaken, PartialOrderSampling(4), 5).kernel.choices != every[5]


def test_a_time_out_fires_early_and_late(bench):
    def program(_trace):
        ready = threading.Event()
        setter = threading.Thread(target=ready.set)
        setter.start()
        return ready.wait(1.0)

    strategy = PartialOrderSampling(1)
    answers = [bench.once(program, strategy, number).result for number in range(60)]
    assert 10 < sum(answers) < 50


def test_who_polls_starves_nobody(bench):
    def program(_trace):
        done = threading.Event()
        threading.Thread(target=done.set).start()
        looks = 0
        while not done.is_set():
            looks += 1
        return looks

    strategy = PartialOrderSampling(1)
    assert max(bench.once(program, strategy, number).result for number in range(100)) < 1_000
