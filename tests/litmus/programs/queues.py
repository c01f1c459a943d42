"""Queue, LifoQueue, PriorityQueue and SimpleQueue."""

# ruff: noqa: ARG001 - a program is given its trace, whether it uses it or not

import queue
import time

from litmus_threads import LATE, SOON, beside, together

NEEDS = {
    "shutdown_against_put": (3, 13),
    "shutdown_at_once_against_get": (3, 13),
    "shutdown_wakes_a_getter": (3, 13),
    "shutdown_lets_the_rest_be_taken": (3, 13),
}
CAN_HANG = {"two_gets_for_one_put"}


def _get(box, timeout=SOON):
    try:
        return box.get(timeout=timeout)
    except queue.Empty:
        return "empty"


def _get_now(box):
    try:
        return box.get_nowait()
    except queue.Empty:
        return "empty"


def two_puts_into_a_queue_of_one(trace):
    box = queue.Queue(1)
    got = []
    together(lambda: box.put(1), lambda: box.put(2), lambda: got.extend([box.get(), box.get()]))
    return tuple(got)


def get_with_time_out_against_put(trace):
    box = queue.Queue()
    return beside(lambda: box.put(1), lambda: _get(box)), box.qsize()


def put_with_time_out_against_get(trace):
    box = queue.Queue(1)
    box.put(1)

    def put():
        try:
            box.put(2, timeout=SOON)
        except queue.Full:
            return "full"
        return "put"

    return beside(lambda: trace.append(box.get()), put), tuple(trace), box.qsize()


def get_at_once_against_put(trace):
    box = queue.Queue()
    return beside(lambda: box.put(1), lambda: (_get_now(box), _get_now(box)))


def put_at_once_against_get(trace):
    box = queue.Queue(1)
    box.put(1)

    def put():
        try:
            box.put_nowait(2)
        except queue.Full:
            return "full"
        return "put"

    return beside(box.get, put), box.qsize()


def two_gets_for_one_put(trace):
    box = queue.Queue()
    got = {}

    def get(name):
        got[name] = box.get()

    together(lambda: get("a"), lambda: get("b"), lambda: box.put(1))
    return tuple(sorted(got.items()))


def two_timed_gets_for_one_put(trace):
    box = queue.Queue()
    got = {}

    def get(name):
        got[name] = _get(box)

    def both():
        get("b")

    box.put(1)
    beside(lambda: get("a"), both)
    return tuple(sorted(got.items()))


def a_stack_shows_the_last_put_first(trace):
    box = queue.LifoQueue()
    together(lambda: box.put(1), lambda: box.put(2))
    return box.get(), box.get()


def a_put_between_two_gets_from_a_stack(trace):
    box = queue.LifoQueue()
    box.put(1)
    box.put(2)
    return beside(lambda: box.put(3), lambda: (box.get(), box.get()))


def a_priority_queue_hands_out_what_is_there(trace):
    box = queue.PriorityQueue()

    def put():
        box.put(2)
        box.put(1)

    return beside(put, lambda: (box.get(), box.get()))


def a_bounded_priority_queue(trace):
    box = queue.PriorityQueue(1)

    def put():
        box.put(1)
        box.put(0)

    return beside(put, lambda: (box.get(), box.get()))


def get_with_time_out_against_put_on_a_simple_queue(trace):
    box = queue.SimpleQueue()
    return beside(lambda: box.put(1), lambda: _get(box)), box.qsize()


def get_at_once_on_a_simple_queue(trace):
    box = queue.SimpleQueue()
    return beside(lambda: box.put(1), lambda: (_get_now(box), _get_now(box)))


def two_getters_on_a_simple_queue(trace):
    box = queue.SimpleQueue()
    got = {}

    def get(name):
        got[name] = box.get()

    together(lambda: get("a"), lambda: get("b"), lambda: (box.put(1), box.put(2)))
    return tuple(sorted(got.items()))


def two_producers_on_a_simple_queue(trace):
    box = queue.SimpleQueue()
    together(lambda: (box.put(1), box.put(2)), lambda: box.put(3))
    return box.get(), box.get(), box.get()


def a_simple_queue_asked_twice_whether_it_is_empty(trace):
    box = queue.SimpleQueue()
    return beside(lambda: box.put(1), lambda: (box.empty(), box.empty()))


def a_simple_queue_s_time_out_that_the_clock_decides(trace):
    box = queue.SimpleQueue()
    together(
        lambda: trace.append(_get(box, 1e-6)), lambda: box.put(1), lambda: (time.monotonic_ns(), time.monotonic_ns())
    )
    return tuple(trace), box.qsize()


def a_queue_asked_twice_whether_it_is_empty(trace):
    box = queue.Queue()
    return beside(lambda: box.put(1), lambda: (box.empty(), box.empty()))


def the_size_of_a_queue_while_it_is_filled(trace):
    box = queue.Queue()
    return beside(lambda: (box.put(1), box.put(2)), lambda: (box.qsize(), box.qsize()))


def full_against_get(trace):
    box = queue.Queue(1)
    box.put(1)
    return beside(box.get, lambda: (box.full(), box.empty()))


def join_waits_for_task_done(trace):
    box = queue.Queue()

    def work():
        box.get()
        trace.append("done")
        box.task_done()

    def main():
        box.put(1)
        box.join()
        return tuple(trace)

    return beside(work, main)


def join_against_put(trace):
    box = queue.Queue()

    def work():
        box.put(1)
        trace.append("put")
        box.get()
        box.task_done()
        trace.append("done")

    def main():
        box.join()
        return len(trace)

    return beside(work, main)


def task_done_once_too_often(trace):
    box = queue.Queue()
    box.put(1)

    def done(name):
        try:
            box.task_done()
        except ValueError:
            trace.append(name)

    together(lambda: done("a"), lambda: done("b"))
    return tuple(trace)


def shutdown_against_put(trace):
    box = queue.Queue()

    def put():
        try:
            box.put(1)
        except queue.ShutDown:
            return "refused"
        return "put"

    return beside(box.shutdown, put), box.qsize()


def shutdown_at_once_against_get(trace):
    box = queue.Queue()
    box.put(1)

    def get():
        try:
            return box.get()
        except queue.ShutDown:
            return "refused"

    return beside(lambda: box.shutdown(immediate=True), get)


def shutdown_wakes_a_getter(trace):
    box = queue.Queue()

    def get():
        try:
            return box.get(timeout=LATE)
        except queue.ShutDown:
            return "refused"
        except queue.Empty:
            return "empty"

    return beside(box.shutdown, get)


def shutdown_lets_the_rest_be_taken(trace):
    box = queue.Queue()
    box.put(1)

    def get():
        try:
            return box.get(), box.get()
        except queue.ShutDown:
            return "refused", box.qsize()

    return beside(box.shutdown, get)
