"""A pool that leases its slots through a LifoQueue."""

import queue

from litmus_threads import SOON, beside, together


def _pool(size):
    slots = queue.LifoQueue()
    for number in range(size):
        slots.put(number)
    return slots


def two_clients_for_one_slot(trace):
    slots = _pool(1)

    def use(name):
        slot = slots.get()
        trace.append(("in", name))
        slots.put(slot)

    together(lambda: use("a"), lambda: use("b"))
    return tuple(trace), slots.qsize()


def two_clients_for_two_slots(trace):
    slots = _pool(2)

    def use(name):
        slot = slots.get()
        trace.append((name, slot))
        slots.put(slot)

    beside(lambda: use("b"), lambda: use("a"))
    return tuple(trace)


def a_lease_that_is_not_waited_for_long(trace):
    slots = _pool(1)

    def use(name):
        try:
            slot = slots.get(timeout=SOON)
        except queue.Empty:
            trace.append(("none", name))
            return
        trace.append(("got", name))
        slots.put(slot)

    beside(lambda: use("b"), lambda: use("a"))
    return tuple(trace)


def a_lease_returned_twice(trace):
    slots = _pool(1)

    def use(name, times):
        slot = slots.get()
        trace.append(name)
        for _ in range(times):
            slots.put(slot)

    beside(lambda: use("b", 1), lambda: use("a", 2))
    return tuple(trace), slots.qsize()


def a_lease_returned_although_its_use_failed(trace):
    slots = _pool(1)

    def use(name):
        slot = slots.get()
        try:
            if name == "b":
                raise KeyError(name)  # noqa: TRY301 - as a use fails
            trace.append(name)
        except KeyError:
            trace.append("failed")
        finally:
            slots.put(slot)

    beside(lambda: use("b"), lambda: use("a"))
    return tuple(trace), slots.qsize()
