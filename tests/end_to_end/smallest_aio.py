"""Scenarios in the smallest configuration for a service behind an asyncio front: each step takes two threads more.

racegate explore docs/examples/aio_queue.py:factory --carrier threads --strategy exhaustive --bound 2
--scenario tests/end_to_end/smallest_aio.py:queued_cancel

The docstring says what is left out.
"""

from dataclasses import replace

from harness.scenario import Scenario
from scenarios.cancel import cancel_races_completion as races
from scenarios.cancel import cancel_while_running as runs
from scenarios.cancel import queued_cancel as queued
from scenarios.failures import time_outs
from scenarios.lifecycle import close_during_run as closes
from scenarios.lifecycle import submit_races_close as submits
from scenarios.time import deadlines, expiry_races


def smaller(scenario):
    """Make a function the scenario's script; everything else is the scenario's own."""
    return lambda body: replace(scenario, body=body)


def running(script, service):
    """A task that is held inside `invoke`, with its gate."""
    gate = script.hold("invoke", calls=1)
    task = service.submit(script.task())
    gate.wait()
    return task, gate


@smaller(races.cancel_races_completion)
def cancel_races_completion(script):
    """1 cancel, no neighbour."""
    service = script.open_service()
    task = service.submit(script.task())
    script.actor("canceller", task.cancel)
    task.result()
    script.join()
    service.close()


@smaller(runs.cancel_while_running)
def cancel_while_running(script):
    """nobody else waits for it."""
    service = script.open_service()
    task, gate = running(script, service)
    task.cancel()
    following = service.submit(script.task())
    gate.open()
    following.result()
    task.result()
    service.close()


@smaller(queued.queued_cancel)
def queued_cancel(script):
    """nobody else waits for it."""
    service = script.open_service()
    ahead, gate = running(script, service)
    task = service.submit(script.task())
    cancelled = task.cancel()
    script.expect(cancelled, "no-delivery-after-cancel", "a queued task can be cancelled")
    task.result()
    gate.open()
    ahead.result()
    service.close()


@smaller(closes.close_during_run)
def close_during_run(script):
    """1 task."""
    service = script.open_service()
    task, gate = running(script, service)
    script.actor("closer", service.close)
    gate.open()
    task.result()
    script.join()


@smaller(submits.submit_races_close)
def submit_races_close(script):
    """1 submitter, who waits for nothing, no cancel."""
    service = script.open_service()
    script.actor("closer", service.close)
    service.submit(script.task())


@smaller(time_outs.wait_timeout)
def wait_timeout(script):
    """no retry."""
    service = script.open_service()
    task, gate = running(script, service)
    waited = task.result(timeout=0.05)
    script.expect(waited.kind == "TIMED_OUT", "timeout-is-a-wait", "a wait ends when its time is over")
    gate.open()
    task.result()
    service.close()


@smaller(deadlines.deadline_while_waiting)
def deadline_while_waiting(script):
    """nobody waits behind it."""
    service = script.open_service()
    ahead, gate = running(script, service)
    task = service.submit(script.task(), deadline=0.05)
    script.rest(0.5)
    outcome = task.result(timeout=0.01).kind
    script.expect(outcome == "EXPIRED", "expires-on-time", "a task that waits expires when it is due")
    gate.open()
    ahead.result()
    task.result()
    service.close()


@smaller(expiry_races.expiry_races_completion)
def expiry_races_completion(script):
    """nobody else waits for it."""
    service = script.open_service()
    script.arm("slow-run")
    task = service.submit(script.task(), deadline=expiry_races.RUN_SECONDS)
    service.submit(script.task()).result()
    task.result()
    service.close()


SMALLEST = tuple(value for value in tuple(globals().values()) if isinstance(value, Scenario))
