"""Urgent requests that join others."""

from harness.scenario import Script, scenario

__all__ = ["deadline_of_one_that_joined", "priority_of_one_that_joined"]

JOINING = {"default": {"overflow": "coalesce"}}


@scenario(exercises=("order", "own-output", "terminal-once"), requires=("priority", "overflow:coalesce"), tasks=5)
def priority_of_one_that_joined(script: Script) -> None:
    """An urgent request that joins an equal one which is not brings it forward.

    Claim: a run is as urgent as the most urgent request that it answers.
    Interleaving: the workers are held inside `invoke`; a request of low priority waits, then one of middle priority,
        and then an urgent one joins the first.
    Expected: the run that the first and the last share starts before the one in the middle.
    """
    service = script.open_service(capacity=4, classes=JOINING, ordering="priority")
    gate = script.hold("invoke")
    tasks = [service.submit(script.task()) for _ in range(service.workers)]
    gate.wait(service.workers)
    tasks.append(service.submit(script.task(), key="equal", priority=1))
    tasks.append(service.submit(script.task(), priority=5))
    tasks.append(service.submit(script.task(), key="equal", priority=9))
    gate.open()
    for task in tasks:
        task.result()
    service.close()


@scenario(
    exercises=("expires-on-time", "own-output", "terminal-once"), requires=("deadline", "overflow:coalesce"), tasks=6
)
def deadline_of_one_that_joined(script: Script) -> None:
    """Requests that share a run have each their own deadline, and none has another's.

    Claim: the one that is due expires when it is due; the others wait on for the run that they share.
    Interleaving: the workers are held inside `invoke` for a second; of two pairs of equal requests that wait, the first
        of the one and the second of the other are due after half a second.
    Expected: EXPIRED for those two, an output of its pair for the others.
    """
    service = script.open_service(capacity=4, classes=JOINING)
    gate = script.hold("invoke")
    held = [service.submit(script.task()) for _ in range(service.workers)]
    stands = gate.wait(service.workers)
    due = [service.submit(script.task(), key="one", deadline=0.5)]
    patient = [service.submit(script.task(), key="one"), service.submit(script.task(), key="other")]
    due.append(service.submit(script.task(), key="other", deadline=0.5))
    script.rest(1.0)
    gate.open()
    outcomes = [task.result().kind for task in due]
    if stands:
        met = set(outcomes) <= {"EXPIRED", "REFUSED"}
        script.expect(met, "expires-on-time", "a request that joined has its own deadline")
    outcomes = [task.result().kind for task in patient]
    met = set(outcomes) <= {"SUCCEEDED", "REFUSED"}
    script.expect(met, "terminal-once", "a deadline ends the task of its own caller alone")
    for task in held:
        task.result()
    service.close()
