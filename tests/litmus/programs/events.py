"""Event: set, wait, clear, is_set."""

# ruff: noqa: ARG001 - a program is given its trace, whether it uses it or not

import threading

from litmus_threads import LATE, SOON, beside, together


def set_against_wait_with_a_time_out(trace):
    event = threading.Event()
    return beside(event.set, lambda: event.wait(SOON)), event.is_set()


def set_wakes_two(trace):
    event = threading.Event()

    def wait(name):
        trace.append((name, event.wait(LATE)))

    together(lambda: wait("a"), lambda: wait("b"), event.set)
    return tuple(trace)


def a_pulse_may_be_missed(trace):
    event = threading.Event()

    def pulse():
        event.set()
        event.clear()

    return beside(pulse, lambda: event.wait(SOON)), event.is_set()


def set_against_clear(trace):
    event = threading.Event()
    together(event.set, event.clear)
    return event.is_set()


def asked_twice_whether_it_is_set(trace):
    event = threading.Event()
    return beside(event.set, lambda: (event.is_set(), event.is_set()))


def two_wait_for_each_other(trace):
    first, second = threading.Event(), threading.Event()

    def body():
        trace.append(("b", first.wait(SOON)))
        second.set()

    def main():
        trace.append(("a", second.wait(SOON)))
        first.set()

    beside(body, main)
    return tuple(trace)


def two_greet_each_other(trace):
    first, second = threading.Event(), threading.Event()

    def body():
        first.set()
        return second.wait(LATE)

    def main():
        second.set()
        return first.wait(LATE)

    return beside(body, main)
