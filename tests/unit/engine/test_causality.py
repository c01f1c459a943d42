"""Which steps race: those with which a later access of a thread that could not know of them conflicts."""

from __future__ import annotations

import pytest

from harness.engine.carriers.os_thread import OsThreadCarriers
from harness.engine.causality import Causality
from harness.engine.kernel import Kernel
from harness.engine.strategies.scripted import Scripted
from harness.engine.threads import Controlled

TOP, LEFT, RIGHT = 1, 2, 3
"""The step of each thread in which it makes its first accesses."""


def a_thread(number, step):
    kernel = Kernel(OsThreadCarriers(), Scripted())
    thread = Controlled(kernel, number, f"thread-{number}", role="actor", daemon=False, thread=None)
    thread.step = step
    return thread


@pytest.fixture
def raced():
    return []


@pytest.fixture
def causality(raced):
    return Causality(raced.append)


@pytest.fixture
def threads(causality):
    top, left, right = (a_thread(number, number + 1) for number in range(3))
    causality.started(top, None)
    causality.started(left, top)
    causality.started(right, top)
    return top, left, right


def write(causality, thread, thing):
    causality.access(thread, thing, "", "")


def read(causality, thread, thing):
    causality.access(thread, thing, "", "read")


@pytest.mark.parametrize(
    ("first", "second", "races"),
    [(write, write, [LEFT]), (write, read, [LEFT]), (read, write, [LEFT]), (read, read, [])],
)
def test_accesses_of_two_threads_race_unless_both_read(causality, threads, raced, first, second, races):
    _, left, right = threads
    thing = object()
    first(causality, left, thing)
    second(causality, right, thing)
    assert raced == races


def test_a_threads_own_read_does_not_hide_its_write(causality, threads, raced):
    _, left, right = threads
    thing = object()
    write(causality, left, thing)
    left.step = 20
    read(causality, left, thing)
    read(causality, right, thing)
    assert raced == [LEFT]


def test_of_a_threads_accesses_in_turn_the_last_one_races(causality, threads, raced):
    """Once a search stops the thread before that one, the one before it is the last."""
    _, left, right = threads
    thing = object()
    write(causality, left, thing)
    left.step = 20
    write(causality, left, thing)
    write(causality, right, thing)
    assert raced == [20]


def test_what_a_lock_orders_does_not_race(causality, threads, raced):
    _, left, right = threads
    lock, thing = object(), object()
    write(causality, left, lock)  # taken
    left.step = 20
    write(causality, left, thing)
    left.step = 21
    write(causality, left, lock)  # released
    write(causality, right, lock)
    write(causality, right, thing)
    assert raced == [21]


def test_what_a_third_thread_was_told_is_known_to_whom_it_tells(causality, threads, raced):
    top, left, right = threads
    first, second, thing = object(), object(), object()
    write(causality, right, second)
    write(causality, left, thing)
    left.step = 20
    write(causality, left, first)
    write(causality, top, first)
    write(causality, top, second)
    write(causality, right, second)
    write(causality, right, thing)
    assert raced == [20, RIGHT, TOP]


def test_what_was_done_before_a_thread_started_does_not_race_with_it(causality, threads, raced):
    top, left, _ = threads
    thing = object()
    write(causality, top, thing)
    child = a_thread(3, 4)
    causality.started(child, top)
    write(causality, child, thing)
    assert not raced
    write(causality, left, thing)
    assert raced == [child.step]


def test_who_waits_for_a_lock_would_have_come_before_its_holder(causality, threads, raced):
    _, left, right = threads
    lock = object()
    write(causality, left, lock)
    causality.waits(right, lock)
    assert raced == [LEFT]


def test_who_knows_that_a_lock_is_held_would_not(causality, threads, raced):
    _, left, right = threads
    lock, told = object(), object()
    write(causality, left, lock)
    write(causality, left, told)
    read(causality, right, told)
    raced.clear()
    causality.waits(right, lock)
    assert not raced


def test_who_ends_a_wait_for_a_time_races_with_its_end(causality, threads, raced):
    _, left, _ = threads
    causality.spares(left)
    assert raced == [LEFT]


def test_steps_that_commute_lead_to_one_state_and_others_do_not():
    def state(*writes):
        causality = Causality(str)
        top, left, right = (a_thread(number, number + 1) for number in range(3))
        causality.started(top, None)
        causality.started(left, top)
        causality.started(right, top)
        for number, thing in writes:
            write(causality, (top, left, right)[number], things[thing])
        return causality.signature(None)

    things = {"a": object(), "b": object()}
    assert state((1, "a"), (2, "b")) == state((2, "b"), (1, "a"))
    assert state((1, "a"), (2, "a")) != state((2, "a"), (1, "a"))
