"""Well-known patterns, right and wrong."""

# ruff: noqa: ARG001 - a program is given its trace, whether it uses it or not

import queue
import threading

from litmus_threads import SOON, beside, together

STATEMENTS = True
CAN_HANG = {"a_sleeper_that_checks_before_it_waits"}


class _Lazy:
    def __init__(self):
        self.lock = threading.Lock()
        self.thing = None
        self.ready = False
        self.made = 0

    def checked_twice(self):
        if self.thing is None:
            with self.lock:
                if self.thing is None:
                    self.made += 1
                    self.thing = ["ready"]
        return self.thing[0]

    def checked_once(self):
        if self.thing is None:
            with self.lock:
                self.made += 1
                self.thing = ["ready"]
        return self.thing[0]

    def published_too_early(self):
        if self.thing is None:
            with self.lock:
                if self.thing is None:
                    self.thing = []
                    self.thing.append("ready")
        return self.thing[0] if self.thing else "unready"


def made_once_when_checked_twice(trace):
    lazy = _Lazy()
    together(lazy.checked_twice, lazy.checked_twice)
    return lazy.made


def made_twice_when_checked_once(trace):
    lazy = _Lazy()
    together(lazy.checked_once, lazy.checked_once)
    return lazy.made


def seen_unready_when_published_too_early(trace):
    lazy = _Lazy()
    return beside(lazy.published_too_early, lazy.published_too_early)


def a_producer_and_a_consumer_with_a_sentinel(trace):
    box = queue.SimpleQueue()

    def consume():
        while (item := box.get()) is not None:
            trace.append(item)

    beside(consume, lambda: (box.put(1), box.put(None)))
    return tuple(trace)


def two_consumers_and_one_sentinel_each(trace):
    box = queue.SimpleQueue()
    taken = []

    def consume(name):
        while box.get() is not None:
            taken.append(name)

    together(lambda: consume("a"), lambda: (box.put(1), box.put(None), box.put(None), consume("b")))
    return tuple(taken)


class _Shared:
    def __init__(self):
        self.lock = threading.Lock()
        self.room = threading.Lock()
        self.readers = 0
        self.value = 0
        self.closed = False
        self.left = 1
        self.right = 1

    def read(self):
        with self.lock:
            self.readers += 1
            if self.readers == 1:
                self.room.acquire()
        seen = self.value
        with self.lock:
            self.readers -= 1
            if self.readers == 0:
                self.room.release()
        return seen

    def write(self):
        with self.room:
            self.value += 1
            self.value += 1


def a_reader_never_sees_half_a_write(trace):
    shared = _Shared()
    return beside(shared.write, shared.read)


def a_reader_without_the_lock_does(trace):
    shared = _Shared()
    return beside(shared.write, lambda: shared.value)


def a_transfer_seen_between_its_halves(trace):
    shared = _Shared()

    def move():
        shared.left -= 1
        shared.right += 1

    return beside(move, lambda: shared.left + shared.right)


def closed_between_the_check_and_the_act(trace):
    shared = _Shared()

    def submit():
        if not shared.closed:
            trace.append("closed" if shared.closed else "open")

    def close():
        shared.closed = True

    beside(submit, close)
    return tuple(trace)


def closed_under_the_lock(trace):
    shared = _Shared()

    def submit():
        with shared.lock:
            if not shared.closed:
                trace.append("closed" if shared.closed else "open")

    def close():
        with shared.lock:
            shared.closed = True

    beside(submit, close)
    return tuple(trace)


def a_sleeper_that_checks_before_it_waits(trace):
    shared = _Shared()
    changed = threading.Condition()

    def sleeper():
        if not shared.closed:
            with changed:
                changed.wait()
        trace.append("woken")

    def waker():
        shared.closed = True
        with changed:
            changed.notify()

    beside(sleeper, waker)
    return tuple(trace)


def a_sleeper_with_a_time_out(trace):
    shared = _Shared()
    changed = threading.Condition()

    def sleeper():
        if shared.closed:
            return "saw"
        with changed:
            return changed.wait(SOON)

    def waker():
        shared.closed = True
        with changed:
            changed.notify()

    return beside(waker, sleeper)


def a_turn_taken_by_a_flag(trace):
    wants = [False, False]

    def enter(number):
        wants[number] = True
        if not wants[1 - number]:
            trace.append(number)

    together(lambda: enter(0), lambda: enter(1))
    return tuple(trace)


def a_ring_of_two_places(trace):
    ring = [None, None]
    place = [0]

    def put(value):
        at = place[0]
        ring[at] = value
        place[0] = 1 - at

    together(lambda: put("a"), lambda: put("b"))
    return tuple(ring), place[0]


def an_id_handed_out_twice(trace):
    shared = _Shared()

    def take():
        shared.value += 1
        trace.append(shared.value)

    together(take, take)
    return tuple(trace)
