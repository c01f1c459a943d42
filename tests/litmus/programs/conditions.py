"""Condition: wait, wait_for, notify and notify_all."""

# ruff: noqa: ARG001 - a program is given its trace, whether it uses it or not

import threading

from litmus_threads import LATE, SOON, beside, together

CAN_HANG = {"a_signal_missed_for_ever", "one_notify_for_two_that_wait_for_ever"}


def a_notify_before_the_wait_is_lost(trace):
    changed = threading.Condition()

    def tell():
        with changed:
            changed.notify()

    def wait():
        with changed:
            return changed.wait(SOON)

    return beside(tell, wait)


def a_signal_missed_for_ever(trace):
    changed = threading.Condition()

    def tell():
        with changed:
            changed.notify()

    def wait():
        with changed:
            return changed.wait()

    return beside(tell, wait)


def a_wait_in_a_loop(trace):
    changed = threading.Condition()
    items = []

    def tell():
        with changed:
            items.append(1)
            changed.notify()

    def wait():
        with changed:
            while not items:
                changed.wait()
            return items.pop()

    return beside(tell, wait)


def _consume(changed, items, taken, *, again):
    with changed:
        if again:
            while not items:
                changed.wait(LATE)
        elif not items:
            changed.wait(LATE)
        taken.append(items.pop() if items else "nothing")


def an_if_where_a_loop_is_needed(trace):
    changed = threading.Condition()
    items = []

    def tell():
        for number in range(2):
            with changed:
                if not number:
                    items.append(number)
                changed.notify_all()

    together(
        lambda: _consume(changed, items, trace, again=False),
        lambda: _consume(changed, items, trace, again=False),
        tell,
    )
    return tuple(sorted(map(str, trace)))


def a_loop_around_notify_all(trace):
    changed = threading.Condition()
    items = []

    def tell():
        with changed:
            items.extend([1, 2])
            changed.notify_all()

    together(
        lambda: _consume(changed, items, trace, again=True), lambda: _consume(changed, items, trace, again=True), tell
    )
    return tuple(trace)


def one_notify_for_two(trace):
    changed = threading.Condition()

    def wait(name):
        with changed:
            if changed.wait(SOON):
                trace.append(name)

    def tell():
        with changed:
            changed.notify()

    together(lambda: wait("a"), lambda: (tell(), wait("b")))
    return tuple(trace)


def one_notify_for_two_that_wait_for_ever(trace):
    changed = threading.Condition()

    def wait(name):
        with changed:
            changed.wait()
        trace.append(name)

    def tell():
        with changed:
            changed.notify()

    together(lambda: wait("a"), lambda: wait("b"), tell)
    return tuple(trace)


def wait_for_with_a_time_out(trace):
    changed = threading.Condition()
    items = []

    def tell():
        with changed:
            items.append(1)
            changed.notify()

    def wait():
        with changed:
            return changed.wait_for(lambda: bool(items), SOON)

    return beside(tell, wait), len(items)


def wait_for_what_never_comes(trace):
    changed = threading.Condition()

    def tell():
        with changed:
            changed.notify()

    def wait():
        with changed:
            return changed.wait_for(lambda: False, SOON)

    return beside(tell, wait)


def notify_without_the_lock(trace):
    changed = threading.Condition()

    def tell():
        try:
            changed.notify()
        except RuntimeError:
            trace.append("refused")

    def hold():
        with changed:
            return len(trace)

    return beside(tell, hold), tuple(trace)


def a_condition_on_a_plain_lock(trace):
    lock = threading.Lock()
    changed = threading.Condition(lock)
    items = []

    def tell():
        with lock:
            items.append(1)
            changed.notify()

    def wait():
        with changed:
            return changed.wait_for(lambda: items, SOON) == [1]

    return beside(tell, wait)


def a_wait_gives_up_every_level_of_its_lock(trace):
    changed = threading.Condition()

    def tell():
        with changed:
            trace.append("told")
            changed.notify()

    def wait():
        with changed, changed:
            heard = bool(trace) or changed.wait(LATE)
            return heard, len(trace)

    return beside(tell, wait)


def turns(trace):
    changed = threading.Condition()

    def step(name, turn):
        with changed:
            changed.wait_for(lambda: len(trace) == turn)
            trace.append(name)
            changed.notify_all()

    beside(lambda: step("b", 1), lambda: step("a", 0))
    return tuple(trace)


def two_notifies_and_one_that_waits_twice(trace):
    changed = threading.Condition()

    def tell():
        for _ in range(2):
            with changed:
                changed.notify()

    def wait():
        with changed:
            return changed.wait(SOON), changed.wait(SOON)

    return beside(tell, wait)


def a_wait_of_no_time_lets_others_in(trace):
    changed, seen = threading.Condition(), []

    def enter():
        with changed:
            seen.append("in")

    def poll():
        with changed:
            before = len(seen)
            changed.wait(0)
            return before, len(seen)

    return beside(enter, poll)
