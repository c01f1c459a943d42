"""What is kept of errors and of waits that were in vain."""

from harness.scenario import Script, scenario

__all__ = ["error_leaves_its_evidence", "expiry_leaves_its_evidence", "wait_in_vain_leaves_its_evidence"]

NEEDS = ("counters", "incidents")
EVENTS = 64


@scenario(exercises=("evidence-true", "counters-true", "terminal-once"), requires=NEEDS, tasks=6)
def error_leaves_its_evidence(script: Script) -> None:
    """Who is told of an error finds the incident: whose it was, what had happened of it, and nothing of its payload.

    Claim: an incident is there before its task's outcome is visible, and one error does not hide another.
    Interleaving: a run fails while a task waits behind it; its client looks as soon as it knows. Then the same with a
        task on malformed input.
    Expected: FAILED for the two (or refused as malformed), their own outputs for the rest; an incident of the failing
        task at each look.
    """
    service = script.open_service(events=EVENTS)
    script.arm("run-failure")
    for malformed in (False, True):
        first, second = service.submit(script.task(malformed=malformed)), service.submit(script.task())
        first.result()
        service.look()
        second.result()
    service.look()
    service.close()


@scenario(exercises=("evidence-true", "timeout-is-a-wait", "terminal-once"), requires=NEEDS, tasks=5)
def wait_in_vain_leaves_its_evidence(script: Script) -> None:
    """Whose wait is over before the task finds out why: how far it is, what it waits for, and who holds its buffers.

    Claim: the evidence is of the task and of the moment; on a slot it waits for that slot, in the queue for any.
    Interleaving: every worker is held inside `invoke` and one task waits; waits for a running task and for the waiting
        one end in vain, each with a look after it; then the gate opens.
    Expected: the time-outs end the waits alone, and every task has its own output.
    """
    service = script.open_service(events=EVENTS)
    gate = script.hold("invoke", calls=service.workers)
    running = [service.submit(script.task()) for _ in range(service.workers)]
    gate.wait(service.workers)
    waiting = service.submit(script.task())
    for task in (running[-1], waiting):
        task.result(timeout=0.05)
        script.sleep(0.001)
        service.look()
    gate.open()
    for task in (*running, waiting):
        task.result()
    script.rest()
    service.look()
    service.close()


@scenario(exercises=("evidence-true", "counters-true", "terminal-once"), requires=(*NEEDS, "deadline"), tasks=5)
def expiry_leaves_its_evidence(script: Script) -> None:
    """A deadline that is over leaves evidence of where the task was, before its client is told.

    Claim: the incident of a task that expired in the queue has it there, that of one that expired on a slot has it on
        that slot; both are counted.
    Interleaving: every worker is held inside `invoke`, one run with a deadline; a task with an earlier one waits. Each
        client looks as soon as it knows, and once more when all has ended.
    Expected: EXPIRED for the two, their own outputs for the rest.
    """
    service = script.open_service(events=EVENTS)
    gate = script.hold("invoke", calls=service.workers)
    others = [service.submit(script.task()) for _ in range(service.workers - 1)]
    running = service.submit(script.task(), deadline=0.2)
    gate.wait(service.workers)
    waiting = service.submit(script.task(), deadline=0.1)
    for task in (waiting, running):
        task.result()
        service.look()
    gate.open()
    for task in others:
        task.result()
    script.rest()
    service.look()
    service.close()
