"""Scenarios in the smallest configuration that their rule allows, where the suite's is larger.

racegate explore queue --scenario tests/end_to_end/smallest.py:lazy_open --strategy exhaustive --bound 2

The docstring says what the configuration has. Who still goes on when a script ends is waited for, as always. A gate
that it does not open opens when nobody else can move: who stands there is in flight through all that goes before.
"""

from dataclasses import replace

from harness.scenario import Scenario
from scenarios.admission import block
from scenarios.admission import crowd_at_a_full_queue as crowds
from scenarios.admission import keep_latest as frames
from scenarios.cancel import cancel_races_the_bind as binds
from scenarios.lifecycle import killed
from scenarios.lifecycle import submit_races_close as last
from scenarios.order import earliest_deadline as deadlines
from scenarios.order import fair_share_floor as floors
from scenarios.order import fair_share_weights as weights
from scenarios.order import priorities
from scenarios.pipeline import stages
from scenarios.pool import lazy_open as lazy
from scenarios.recovery import neighbours, watchdog
from scenarios.switch import switch_that_fails as failing
from scenarios.switch import switch_under_load as switching
from scenarios.time import expiry_races as races
from scenarios.time import run_budget as budgets

BUDGET = watchdog.BUDGET


def smaller(scenario):
    """Make a function the scenario's script; everything else is the scenario's own."""
    return lambda body: replace(scenario, body=body)


def with_fewer(scenario, says, **fewer):
    """The scenario's own script, with fewer of something."""

    def body(script):
        scenario.body(script, **fewer)

    body.__doc__ = says
    return replace(scenario, body=body)


crowd_at_a_full_queue = with_fewer(crowds.crowd_at_a_full_queue, "1 place, 2 clients.", places=1, before=0)
flood_of_low_priority = with_fewer(priorities.flood_of_low_priority, "2 of low priority.", low=2)
priority_inversion = with_fewer(priorities.priority_inversion, "1 in between waits, 1 comes.", middle=1)
fair_share_weights = with_fewer(weights.fair_share_weights, "2 of each class.", each=2)
fair_share_floor = with_fewer(floors.fair_share_floor, "3 heavy tasks.", heavy=3)


@smaller(block.block_until_a_place_is_free)
def block_until_a_place_is_free(script):
    """1 client and the script wait."""
    service = script.open_service(capacity=1, classes={"default": {"overflow": "block"}})
    gate = script.hold("invoke")
    tasks = []
    for worker in range(service.workers):
        tasks.append(service.submit(script.task()))
        gate.wait(worker + 1)
    tasks.append(service.submit(script.task()))
    other, own = script.task(), script.task()
    script.actor("batch", lambda: tasks.append(service.submit(other)))
    gate.open()
    tasks.append(service.submit(own))
    script.join()
    for task in tasks:
        script.expect(task.result().kind == "SUCCEEDED", "terminal-once", "who waited for a place is served")


@smaller(frames.camera_frames)
def camera_frames(script):
    """2 frames each, one camera is the script."""
    service = script.open_service(capacity=2, classes=frames.LATEST)
    other, own = ([script.task() for _ in range(2)] for _ in range(2))
    script.actor("camera", lambda: [service.submit(frame) for frame in other])
    sent = [service.submit(frame) for frame in own]
    script.join()
    sent[-1].result()


@smaller(races.expiry_races_completion)
def expiry_races_completion(script):
    """the script waits."""
    service = script.open_service()
    script.arm("slow-run")
    task = service.submit(script.task(), deadline=races.RUN_SECONDS)
    service.submit(script.task())
    task.result()


@smaller(binds.expiry_races_the_bind)
def expiry_races_the_bind(script):
    """the script waits."""
    service = script.open_service()
    struck = script.task()
    script.arm("run-hang", task=struck)
    service.submit(struck, deadline=binds.DUE_SECONDS).result()
    service.submit(script.task())


@smaller(budgets.run_budget)
def run_budget(script):
    """the script waits."""
    service = script.open_service(run_budget=BUDGET)
    gate = script.hold("invoke", calls=1)
    running = service.submit(script.task())
    held = gate.wait()
    outcome = running.result().kind
    if held:
        script.expect(outcome == "FAILED", "expires-on-time", "a run that is over its budget fails its task")
    service.submit(script.task())
    gate.open()
    script.rest()


@smaller(killed.killed_and_resumed)
def killed_and_resumed(script):
    """2 orders, the script is the client."""
    journal = script.journal()
    first = script.open_service(capacity=2, classes=killed.ORDERS, journal=journal)
    orders = {f"order-{number}": script.task() for number in range(2)}
    tasks = {name: first.submit(order, request_class="orders", payload_ref=name) for name, order in orders.items()}
    seen, found = [], []
    script.actor("power-cut", lambda: found.append((list(seen), journal.after_a_kill())))
    for name, task in tasks.items():
        if task.result().kind == "SUCCEEDED":
            seen.append(name)
    script.join()
    first.close()
    finished, left = found[0]
    pending = left.references()
    says = "a task whose result was seen is finished on the disk"
    script.expect(not set(finished) & set(pending), "terminal-once", says)
    second = script.open_service(capacity=2, classes=killed.ORDERS, journal=left)
    for name, order in orders.items():
        again = second.submit(script.again(order), request_class="orders", payload_ref=name)
        says = "what was accepted and is not finished runs again, and what is finished does not"
        script.expect(again.accepted == (name in pending), "terminal-once", says)


@smaller(last.submit_races_close)
def submit_races_close(script):
    """1 client, the script submits and cancels."""
    service = script.open_service()
    other, own = script.task(), script.task()
    script.actor("submitter", lambda: service.submit(other).result())
    script.actor("closer", service.close)
    service.submit(own).cancel()


@smaller(neighbours.device_reset_spares_the_idle)
def device_reset_spares_the_idle(script):
    """2 tasks follow."""
    service = script.open_service()
    script.arm("device-reset")
    first = service.submit(script.task()).result()
    script.rest()
    cost = [service.submit(script.task()).result().kind for _ in range(2)].count("FAILED")
    script.expect(first.kind != "FAILED" or not cost, "recovery-order", "a reset of the device costs the idle no task")


@smaller(neighbours.device_reset_spares_the_next_model)
def device_reset_spares_the_next_model(script):
    """1 task in flight, 1 follows, the script switches."""
    service = script.open_service()
    script.hold("invoke", calls=1)
    service.submit(script.task())
    finds_out = script.task()
    script.arm("device-reset", task=finds_out)
    first = service.submit(finds_out)
    service.switch("v2")
    script.rest()
    after = service.submit(script.task())
    service.close()
    spared = first.result().kind != "FAILED" or after.result().kind != "FAILED"
    script.expect(spared, "recovery-order", "a reset of the device costs what was opened for a switch no task")


@smaller(neighbours.time_out_has_the_neighbours_checked)
def time_out_has_the_neighbours_checked(script):
    """1 task follows, the script waits."""
    answers = iter((False,))
    service = script.open_service(run_budget=BUDGET, health_check=lambda: next(answers, True))
    script.arm("run-hang")
    service.submit(script.task()).result()
    script.rest()
    service.submit(script.task())
    script.rest()


@smaller(watchdog.watchdog_ends_a_hang)
def watchdog_ends_a_hang(script):
    """1 task waits behind it, the script waits."""
    service = script.open_service(run_budget=BUDGET)
    script.arm("run-hang")
    hung = service.submit(script.task())
    service.submit(script.task())
    hung.result()
    script.rest()


@smaller(watchdog.watchdog_waits_for_the_device)
def watchdog_waits_for_the_device(script):
    """a retry alone, the script waits."""
    service = script.open_service(run_budget=BUDGET)
    gate = script.hold("invoke", calls=1)
    hung = service.submit(script.task())
    gate.wait()
    hung.result()
    service.submit(script.task(), retry_of=hung)
    script.rest()
    gate.open()
    script.rest()


@smaller(lazy.lazy_open)
def lazy_open(script):
    """1 client and the script come first, nobody later."""
    service = script.open_service(capacity=2, lazy=True)
    other = script.task()
    script.actor("client", lambda: service.submit(other))
    service.submit(script.task())
    script.rest()
    once = script.sessions <= script.workers
    script.expect(once, "close-once", "concurrent first requests load once for each slot")


@smaller(deadlines.earliest_deadline)
def earliest_deadline(script):
    """2 deadlines wait."""
    service = script.open_service(capacity=2, ordering="earliest-deadline")
    gate = script.hold("invoke")
    for worker in range(service.workers):
        service.submit(script.task())
        gate.wait(worker + 1)
    for seconds in deadlines.SECONDS[:2]:
        service.submit(script.task(), deadline=seconds)
    gate.open()


@smaller(stages.pipeline_hands_over)
def pipeline_hands_over(script):
    """2 tasks of the script."""
    service = script.open_service(capacity=2)
    for _ in range(2):
        service.submit(script.task())


@smaller(stages.pipeline_backs_up)
def pipeline_backs_up(script):
    """1 place, 5 tasks."""
    service = script.open_service(capacity=1)
    script.hold("invoke", calls=1)
    tasks = [service.submit(script.task())]
    for _ in range(4):
        script.rest()
        tasks.append(service.submit(script.task()))
    service.close()
    outcomes = [task.result().kind for task in tasks if task.accepted]
    held_back = len(tasks) - len(outcomes) + outcomes.count("REPLACED")
    script.expect(held_back > 0, "capacity", "a stage that is stuck holds the source back")
    script.expect(set(outcomes) <= {"SUCCEEDED", "REPLACED"}, "terminal-once", "what was accepted is not lost")


@smaller(failing.switch_open_failure)
def switch_open_failure(script):
    """1 task in flight, the script switches, nobody comes later."""
    service = script.open_service()
    gate = script.hold("invoke", calls=1)
    tasks = [service.submit(script.task())]
    gate.wait()
    during = script.task()
    script.arm("session-open-failure")
    script.actor("client", lambda: tasks.append(service.submit(during)))
    done = service.switch("v2")
    script.expect(not done, "one-version", "a switch whose model does not open says so")
    script.join()
    outcomes = {task.result().kind for task in tasks}
    script.expect(outcomes <= {"SUCCEEDED", "REFUSED"}, "terminal-once", "a switch that fails loses no task")


@smaller(failing.switch_races_close)
def switch_races_close(script):
    """1 task in flight, the script closes."""
    service = script.open_service()
    script.hold("invoke", calls=1)
    service.submit(script.task())
    script.actor("switcher", lambda: service.switch("v2"))
    service.close()


@smaller(switching.switch_under_load)
def switch_under_load(script):
    """1 task in flight, 1 comes (on a pool before the switch), on a queue 1 later, the script switches."""
    service = script.open_service()
    gate = script.hold("invoke", calls=1)
    service.submit(script.task())
    gate.wait()
    during = script.task()
    if script.workers > 1:
        service.submit(during)
        service.switch("v2")
    else:
        script.actor("client", lambda: service.submit(during))
        service.switch("v2")
        service.submit(script.task())


@smaller(switching.switch_cancels_what_waits)
def switch_cancels_what_waits(script):
    """1 task in flight, 1 more, the script switches, on a pool it cancels after that."""
    service = script.open_service()
    script.hold("invoke", calls=1)
    service.submit(script.task())
    waiting = service.submit(script.task())
    if script.workers > 1:
        service.switch("v2", pending="cancel")
        waiting.cancel()
    else:
        script.actor("canceller", waiting.cancel)
        service.switch("v2", pending="cancel")


@smaller(switching.two_switches)
def two_switches(script):
    """1 task in flight, 1 later, the script switches as well."""
    service = script.open_service()
    gate = script.hold("invoke", calls=1)
    service.submit(script.task())
    gate.wait()
    script.actor("switcher", lambda: service.switch("v2"))
    service.switch("v3")
    script.join()
    service.submit(script.task())


SMALLEST = tuple(value for value in dict(globals()).values() if isinstance(value, Scenario))
