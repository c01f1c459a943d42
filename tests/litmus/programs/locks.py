"""Lock and RLock: try-acquire, time-outs, pairs."""

# ruff: noqa: ARG001 - a program is given its trace, whether it uses it or not

import threading
import time

from litmus_threads import SOON, apart, beside, together

CAN_HANG = {"a_pair_of_locks_in_two_orders"}


def _release(lock):
    try:
        lock.release()
    except RuntimeError:
        return "refused"
    return "released"


def _taken(lock, **how):
    """Whether the lock was had; it is given back."""
    had = lock.acquire(**how)
    if had:
        lock.release()
    return had


def a_try_against_an_empty_critical_section(trace):
    lock = threading.Lock()

    def hold():
        with lock:
            pass

    return beside(hold, lambda: _taken(lock, blocking=False))


def a_try_against_a_holder_that_sleeps(trace):
    lock = threading.Lock()

    def hold():
        with lock:
            time.sleep(SOON)

    return beside(hold, lambda: _taken(lock, blocking=False))


def two_tries(trace):
    lock = threading.Lock()

    def take(name):
        if lock.acquire(blocking=False):
            trace.append(name)

    together(lambda: take("a"), lambda: take("b"))
    return tuple(trace)


def a_time_out_against_a_holder(trace):
    lock = threading.Lock()

    def hold():
        with lock:
            time.sleep(SOON)

    return beside(hold, lambda: _taken(lock, timeout=SOON))


def a_time_out_is_not_extended_by_a_lock_that_comes_and_goes(trace):
    lock = threading.Lock()
    lock.acquire()

    def take():
        trace.append(_taken(lock, timeout=0.03))

    def toggle():
        time.sleep(0.015)
        lock.release()
        mine = lock.acquire(blocking=False)
        time.sleep(0.03)
        if mine:
            lock.release()
        return mine

    return beside(take, toggle), tuple(trace)


def a_pair_of_locks_in_two_orders(trace):
    first, second = threading.Lock(), threading.Lock()

    def forward():
        with first, second:
            trace.append("b")

    def backward():
        with second, first:
            trace.append("a")

    beside(forward, backward)
    return tuple(trace)


def a_pair_of_locks_in_one_order(trace):
    first, second = threading.Lock(), threading.Lock()

    def both(name):
        with first, second:
            trace.append(name)

    beside(lambda: both("b"), lambda: both("a"))
    return tuple(trace)


def a_pair_of_locks_with_time_outs(trace):
    first, second = threading.Lock(), threading.Lock()

    def both(name, one, other):
        with one:
            if other.acquire(timeout=SOON):
                trace.append(name)
                other.release()

    beside(lambda: both("b", first, second), lambda: both("a", second, first))
    return tuple(trace)


def three_locks_in_a_ring_that_are_tried(trace):
    locks = [threading.Lock() for _ in range(3)]

    def take(number):
        with locks[number]:
            if locks[(number + 1) % 3].acquire(blocking=False):
                trace.append(number)
                locks[(number + 1) % 3].release()

    together(*(lambda number=number: take(number) for number in range(3)))
    return tuple(sorted(trace))


def a_lock_released_by_another_thread(trace):
    lock = threading.Lock()
    lock.acquire()

    def wait():
        lock.acquire()
        return tuple(trace)

    return beside(lambda: (trace.append("b"), lock.release()), wait)


def two_release_what_was_taken_once(trace):
    lock = threading.Lock()
    lock.acquire()
    together(lambda: trace.append(("a", _release(lock))), lambda: trace.append(("b", _release(lock))))
    return tuple(sorted(trace))


def a_release_before_or_after_the_acquire(trace):
    lock = threading.Lock()
    return apart(lambda: lock.acquire(blocking=False), lambda: _release(lock))


def asked_twice_whether_it_is_locked(trace):
    lock = threading.Lock()
    return beside(lambda: lock.acquire(blocking=False), lambda: (lock.locked(), lock.locked()))


def a_reentrant_lock_tried_by_a_stranger(trace):
    lock = threading.RLock()

    def hold():
        with lock, lock:
            time.sleep(SOON)

    return beside(hold, lambda: _taken(lock, blocking=False))


def a_reentrant_lock_released_by_a_stranger(trace):
    lock = threading.RLock()
    lock.acquire()
    answer = beside(lambda: trace.append(_release(lock)), lambda: lock.acquire(blocking=False))
    return answer, tuple(trace)


def a_reentrant_lock_with_a_time_out(trace):
    lock = threading.RLock()

    def hold():
        with lock:
            time.sleep(SOON)

    return beside(hold, lambda: _taken(lock, timeout=SOON))


def a_lock_guards_a_counter(trace):
    lock = threading.Lock()
    box = {"count": 0}

    def add():
        with lock:
            box["count"] += 1
            trace.append(box["count"])

    together(add, add)
    return box["count"], tuple(trace)


def two_sections_are_not_one(trace):
    lock = threading.Lock()
    box = {"count": 0}

    def add():
        with lock:
            seen = box["count"]
        with lock:
            box["count"] = seen + 1

    together(add, add)
    return box["count"]
