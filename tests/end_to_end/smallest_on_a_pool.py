"""Scenarios of the catalogue in the smallest configuration for a pool, where one slot gets through the scenario's own.

racegate explore pool --slots 2 --scenario tests/end_to_end/smallest_on_a_pool.py:many_clients --strategy exhaustive

As in `smallest.py`.
"""

from dataclasses import replace

from harness.scenario import Scenario
from scenarios.failures import context_lost as lost
from scenarios.load import fresh_results as fresh
from scenarios.load import many_clients as clients
from scenarios.pool import residency
from scenarios.pool import slot_quarantined as quarantine
from scenarios.shapes import two_shapes as shapes


def on_a_pool(scenario, **fewer):
    """Make a function the script of a pool; one slot gets through the scenario's own, with fewer of something.

    Only the scripts of `smaller` are seen into: these must share nothing of Python's with their actors.
    """

    def decorate(body):
        def either(script):
            if script.workers > 1:
                body(script)
            else:
                scenario.body(script, **fewer)

        either.__doc__ = body.__doc__
        return replace(scenario, body=either)

    return decorate


@on_a_pool(fresh.fresh_frames, count=2)
def fresh_frames(script):
    """2 frames, on a pool nobody waits."""
    service = script.open_service(capacity=2)
    screen = script.subscriber()
    for number in (1, 2):
        screen.follow(service.submit(script.task(), context=number), number)


@on_a_pool(fresh.search_box, keystrokes=2)
def search_box(script):
    """2 keystrokes, on a pool nobody waits."""
    service = script.open_service(capacity=2)
    box = script.subscriber()
    for number in (1, 2):
        box.expect(number)
        box.follow(service.submit(script.task(), context=number), number)


@on_a_pool(fresh.stale_model, before=1)
def stale_model(script):
    """1 task before the switch, on a pool 1 in flight as well."""
    service = script.open_service()
    screen = script.subscriber()
    script.hold("invoke", calls=1)
    for number in (1, 2):
        screen.follow(service.submit(script.task(), context=number), number)
    screen.switched_to("v2")
    service.switch("v2")
    screen.follow(service.submit(script.task(), context=3), 3)


@on_a_pool(lost.device_reset)
def device_reset(script):
    """on a pool 1 task waits behind those that are struck."""
    service = script.open_service(health_check=lambda: False)
    script.arm("device-reset")
    gate = script.hold("invoke")
    tasks = [service.submit(script.task()) for _ in range(service.workers)]
    gate.wait(service.workers)
    tasks.append(service.submit(script.task()))
    gate.open()
    script.rest()
    few = [task.result().kind for task in tasks].count("FAILED") <= service.workers
    script.expect(few, "quarantine", "a reset of the device fails no more tasks than there were sessions")


@on_a_pool(clients.many_clients, clients=2)
def many_clients(script):
    """2 clients, on a pool one is the script."""
    service = script.open_service(capacity=2)
    other = script.task()
    script.actor("client", lambda: service.submit(other).result())
    service.submit(script.task())


@on_a_pool(residency.two_clients_of_one_model)
def two_clients_of_one_model(script):
    """on a pool 1 task each, and one client is the script."""
    first = script.open_service(resident=True)
    second = script.open_service(resident=True)
    task = script.task()

    def use_and_leave():
        first.submit(task)
        first.close()

    script.actor("first", use_and_leave)
    second.submit(script.task())
    script.join()
    second.close()


@on_a_pool(quarantine.slot_quarantined, tasks=2)
def slot_quarantined(script):
    """1 task follows, on a pool nobody waits."""
    service = script.open_service(capacity=2, health_check=lambda: False)
    script.arm("run-failure")
    for _ in range(2):
        service.submit(script.task())


@on_a_pool(shapes.two_shapes_alternating, pairs=2)
def two_shapes_alternating(script):
    """2 pairs, on a pool 3 tasks, and nobody waits."""
    service = script.open_service(capacity=3, shapes=True)
    gate = script.hold("invoke", calls=1)
    for shape in (0, shapes.LARGE, 0):
        service.submit(script.task(shape=shape))
    gate.open()


@on_a_pool(shapes.resize_races_a_run)
def resize_races_a_run(script):
    """on a pool the script is the other client."""
    service = script.open_service(shapes=True)
    gate = script.hold("invoke", calls=1)
    service.submit(script.task())
    gate.wait()
    gate.open()
    service.submit(script.task(shape=shapes.LARGE))


@on_a_pool(shapes.unseen_shape)
def unseen_shape(script):
    """on a pool 1 task waits behind it, and nobody for that."""
    service = script.open_service(capacity=3, shapes=True)
    gate = script.hold("bind", calls=service.workers)
    service.submit(script.task(shape=shapes.UNSEEN))
    for _ in range(service.workers - 1):
        service.submit(script.task())
    gate.wait(service.workers)
    service.submit(script.task(shape=shapes.LARGE))
    gate.open()


SMALLEST = tuple(value for value in dict(globals()).values() if isinstance(value, Scenario))
