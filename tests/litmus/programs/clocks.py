"""Clock reads and sleeps."""

# ruff: noqa: ARG001 - a program is given its trace, whether it uses it or not

import threading
import time

from litmus_threads import SOON, beside, together


def the_shorter_sleep_ends_first(trace):
    def body(name, seconds):
        time.sleep(seconds)
        trace.append(name)

    together(lambda: body("long", 0.02), lambda: body("short", 0.001))
    return tuple(trace)


def two_sleeps_that_end_together(trace):
    def body(name):
        time.sleep(SOON)
        trace.append(name)

    together(lambda: body("a"), lambda: body("b"))
    return tuple(trace)


def a_sleep_of_no_time_lets_others_go(trace):
    def body(name):
        trace.append(name)
        time.sleep(0)
        trace.append(name)

    beside(lambda: body("b"), lambda: body("a"))
    return tuple(trace)


def a_wait_takes_its_time(trace):
    event = threading.Event()

    def main():
        began = time.monotonic()
        heard = event.wait(SOON)
        return heard or time.monotonic() - began >= SOON

    return beside(event.set, main)


def a_loop_that_polls_until_its_deadline(trace):
    event = threading.Event()

    def main():
        deadline = time.monotonic() + 0.00001
        while time.monotonic() < deadline:
            if event.is_set():
                return "set"
        return "late"

    return beside(event.set, main)


def a_clock_read_between_two(trace):
    box = []

    def main():
        first = time.perf_counter_ns()
        second = time.perf_counter_ns()
        return first, second

    first, second = beside(lambda: box.append(time.perf_counter_ns()), main)
    return (first < box[0]) + (second < box[0])


def a_clock_goes_on(trace):
    seen = []
    beside(lambda: seen.append(time.monotonic_ns()), lambda: seen.append(time.monotonic_ns()))
    return seen == sorted(seen)


def a_sleep_against_a_time_out(trace):
    event = threading.Event()

    def body():
        time.sleep(SOON)
        event.set()

    return beside(body, lambda: event.wait(SOON))
