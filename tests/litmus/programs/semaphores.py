"""Semaphore and BoundedSemaphore."""

# ruff: noqa: ARG001 - a program is given its trace, whether it uses it or not

import threading

from litmus_threads import SOON, beside, together


def two_tries_for_one_unit(trace):
    units = threading.Semaphore(1)

    def take(name):
        if units.acquire(blocking=False):
            trace.append(name)

    together(lambda: take("a"), lambda: take("b"))
    return tuple(trace)


def a_try_against_one_that_takes_and_returns(trace):
    units = threading.Semaphore(1)

    def hold():
        with units:
            pass

    def attempt():
        had = units.acquire(blocking=False)
        if had:
            units.release()
        return had

    return beside(hold, attempt)


def acquire_with_a_time_out_against_release(trace):
    units = threading.Semaphore(0)
    return beside(units.release, lambda: units.acquire(timeout=SOON))


def one_release_too_many(trace):
    units = threading.BoundedSemaphore(1)
    units.acquire()

    def release(name):
        try:
            units.release()
        except ValueError:
            trace.append(name)

    together(lambda: release("a"), lambda: release("b"))
    return tuple(trace)


def a_release_of_two_wakes_two(trace):
    units = threading.Semaphore(0)

    def take(name):
        trace.append((name, units.acquire(timeout=SOON)))

    beside(lambda: take("a"), lambda: (units.release(2), take("b")))
    return tuple(trace)


def three_for_two_units(trace):
    units = threading.Semaphore(2)

    def take(name):
        if units.acquire(blocking=False):
            trace.append(name)

    together(lambda: take("a"), lambda: take("b"), lambda: take("c"))
    return tuple(trace)


def a_unit_handed_back_and_forth(trace):
    ping, pong = threading.Semaphore(0), threading.Semaphore(0)

    def body():
        ping.acquire()
        trace.append("pong")
        pong.release()

    def main():
        trace.append("ping")
        ping.release()
        pong.acquire()

    beside(body, main)
    return tuple(trace)
