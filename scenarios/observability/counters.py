"""Counters, looked at while tasks come and go."""

from harness.scenario import Script, scenario

__all__ = ["counters_add_up", "counters_of_joined_requests", "counters_while_tasks_come_and_go"]

NEEDS = ("counters",)
JOINING = {"default": {"overflow": "coalesce"}}


@scenario(exercises=("counters-true", "terminal-once", "own-output"), requires=NEEDS, tasks=8)
def counters_add_up(script: Script) -> None:
    """What a service counts is so while tasks wait, run, fail and are cancelled, and nothing is left at the end.

    Claim: at every look the counters agree with what its clients and its sessions saw; a run that was cancelled has its
        buffers until its call has returned, and then nothing is live.
    Interleaving: looks when nobody can move: before the first task, with every worker held inside `invoke` and one
        task waiting, after that one and a running one were cancelled, when all have ended, after a run that failed,
        one on malformed input and one that went well, and after close.
    Expected: CANCELLED where the cancel said so, FAILED for the two (or refused as malformed), their own outputs for
        the rest.
    """
    service = script.open_service()
    service.look()
    gate = script.hold("invoke", calls=service.workers)
    running = [service.submit(script.task()) for _ in range(service.workers)]
    gate.wait(service.workers)
    waiting = service.submit(script.task())
    script.rest()
    service.look()
    waiting.cancel()
    running[0].cancel()
    service.look()
    gate.open()
    for task in (waiting, *running):
        task.result()
    script.rest()
    service.look()
    script.arm("run-failure")
    for malformed in (False, True, False):
        service.submit(script.task(malformed=malformed)).result()
        service.look()
    script.rest()
    service.look()
    service.close()
    service.look()


@scenario(exercises=("counters-true", "terminal-once", "own-output"), requires=(*NEEDS, "overflow:coalesce"), tasks=5)
def counters_of_joined_requests(script: Script) -> None:
    """Requests that share a run are as many tasks as there are callers, and one that gives up is none any more.

    Claim: each caller's task is counted once, whatever it shares.
    Interleaving: the workers are held inside `invoke`; two equal requests wait, a look; one of them is cancelled, and
        another look; then the gate opens.
    Expected: CANCELLED for the one, the shared answer for the other, its own output for the rest.
    """
    service = script.open_service(classes=JOINING)
    gate = script.hold("invoke", calls=service.workers)
    running = [service.submit(script.task()) for _ in range(service.workers)]
    gate.wait(service.workers)
    joined = [service.submit(script.task(), key="equal") for _ in range(2)]
    script.rest()
    service.look()
    joined[0].cancel()
    service.look()
    gate.open()
    for task in (*running, *joined):
        task.result()
    script.rest()
    service.look()
    service.close()


@scenario(exercises=("counters-true", "terminal-once"), requires=NEEDS, tasks=3)
def counters_while_tasks_come_and_go(script: Script) -> None:
    """Counters are of one moment, however many tasks come and go while somebody reads them.

    Claim: a task that goes from the queue to a slot meanwhile is in one of the two, and in no more than one; it is live
        as long as it can still be cancelled.
    Interleaving: somebody looks, cancels the first of two tasks and looks again, while that is run and its client
        submits the second and closes the service.
    Expected: CANCELLED where the cancel said so, else their own outputs.
    """
    service = script.open_service()
    first = service.submit(script.task())

    def look_and_cancel() -> None:
        service.look()
        first.cancel()
        service.look()

    script.actor("monitor", look_and_cancel)
    second = service.submit(script.task())
    first.result()
    second.result()
    service.close()
