"""Equal requests."""

from harness.scenario import ClientTask, Script, scenario

__all__ = ["coalesce", "coalesce_spares_what_runs"]

JOINING = {"default": {"overflow": "coalesce"}}


@scenario(
    exercises=("terminal-once", "own-output", "no-delivery-after-cancel"), requires=("overflow:coalesce",), tasks=6
)
def coalesce(script: Script) -> None:
    """Equal requests share one run, each caller gets an answer of its own, and one that gives up takes it from nobody.

    Claim: a request joins the waiting one of its key, also when the queue is full; a cancel ends its own caller's
        task alone.
    Interleaving: the workers are held inside `invoke`; two equal requests and another fill the queue, a third equal
        one comes, and the first of them is cancelled.
    Expected: CANCELLED for that one, one of the equal requests' outputs for the others, its own for the rest.
    """
    service = script.open_service(capacity=2, classes=JOINING)
    gate = script.hold("invoke")
    tasks: list[ClientTask] = []
    held = True
    for worker in range(service.workers):
        tasks.append(service.submit(script.task()))
        held &= gate.wait(worker + 1)
    first = service.submit(script.task(), key="equal")
    tasks.append(service.submit(script.task(), key="another"))
    joined = [service.submit(script.task(), key="equal") for _ in range(2)]
    if held:
        script.expect(all(task.accepted for task in joined), "capacity", "a request that joins takes no place")
    first.cancel()
    gate.open()
    for task in tasks:
        task.result()
    outcomes = {task.result().kind for task in joined}
    script.expect(outcomes <= {"SUCCEEDED", "REFUSED"}, "terminal-once", "a cancel ends its own caller's task alone")
    joined[0].recheck()
    first.result()
    service.close()


@scenario(exercises=("terminal-once", "own-output"), requires=("overflow:coalesce",), tasks=4)
def coalesce_spares_what_runs(script: Script) -> None:
    """A request does not join an equal one that runs already: what that was given may be older.

    Claim: the answer comes from a run that began after the request was made.
    Interleaving: the run of an equal request is held inside `invoke` when two more come.
    Expected: its own output for the first, and for the others the output of one of them.
    """
    service = script.open_service(capacity=2, classes=JOINING)
    gate = script.hold("invoke", calls=1)
    running = service.submit(script.task(), key="equal")
    gate.wait()
    later = [service.submit(script.task(), key="equal") for _ in range(2)]
    gate.open()
    for task in (running, *later):
        task.result()
    service.close()
