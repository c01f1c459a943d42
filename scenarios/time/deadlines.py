"""Deadlines, of tasks that wait and of tasks that run."""

from harness.scenario import ClientTask, Script, scenario

__all__ = ["deadline_while_running", "deadline_while_waiting"]


@scenario(exercises=("expires-on-time", "terminal-once", "own-output"), requires=("deadline",), tasks=5)
def deadline_while_waiting(script: Script) -> None:
    """A task that waits expires when it is due, not when the task ahead ends, and never starts afterwards.

    Claim: the deadline has a clock of its own: that the workers are busy changes nothing.
    Interleaving: the workers are held inside `invoke`; a task with a deadline of 50 ms and one without wait behind
        them; half a second goes by.
    Expected: EXPIRED for the one while the workers are still busy, its own output for every other.
    """
    service = script.open_service(capacity=2)
    gate = script.hold("invoke")
    running: list[ClientTask] = []
    held = True
    for worker in range(service.workers):
        running.append(service.submit(script.task()))
        held &= gate.wait(worker + 1)
    queued = service.submit(script.task(), deadline=0.05)
    patient = service.submit(script.task())
    script.actor("waiter", queued.result)
    script.rest(0.5)
    if held:
        outcome = queued.result(timeout=0.01).kind
        script.expect(outcome == "EXPIRED", "expires-on-time", "a task that waits expires when it is due")
    gate.open()
    script.join()
    for task in (*running, queued, patient):
        task.result()
    service.close()


@scenario(
    exercises=("expires-on-time", "buffer-until-return", "terminal-once", "own-output"), requires=("deadline",), tasks=2
)
def deadline_while_running(script: Script) -> None:
    """A task that runs expires when it is due; its session stays taken until the native call has returned.

    Claim: the client is told in time, and the result that comes later is delivered to nobody.
    Interleaving: the call is held inside `invoke` for half a second, ten times as long as the deadline.
    Expected: EXPIRED while the call is in flight; the task that follows delivers its own output.
    """
    service = script.open_service()
    gate = script.hold("invoke", calls=1)
    running = service.submit(script.task(), deadline=0.05)
    script.actor("waiter", running.result)
    held = gate.wait()
    following = service.submit(script.task())
    script.rest(0.5)
    if held:
        outcome = running.result(timeout=0.01).kind
        script.expect(outcome == "EXPIRED", "expires-on-time", "a task that runs expires when it is due")
    gate.open()
    script.join()
    following.result()
    running.result()
    service.close()
