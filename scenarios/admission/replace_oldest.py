"""A full queue that lets the newest in."""

from harness.scenario import ClientTask, Gate, Script, ServiceUnderTest, scenario

__all__ = ["replace_oldest"]


@scenario(exercises=("capacity", "terminal-once", "own-output"), requires=("overflow:replace-oldest",), tasks=5)
def replace_oldest(script: Script) -> None:
    """A full queue gives the place of its oldest waiting task to the newest, and tells whom it sent away.

    Claim: the oldest waiting task ends REPLACED at once, what runs and what waits behind it is left alone, and there
        are never more tasks than places.
    Interleaving: the workers are held inside `invoke` and both places are taken; a client waits for the older one
        when a third task comes.
    Expected: REPLACED for the oldest, its own output for every other.
    """
    service = script.open_service(capacity=2, classes={"default": {"overflow": "replace-oldest"}})
    gate = script.hold("invoke")
    tasks, held = _occupy(script, service, gate)
    oldest, younger = service.submit(script.task()), service.submit(script.task())
    script.actor("waiter", oldest.result)
    newest = service.submit(script.task())
    script.rest()
    outcomes = [task.result(timeout=0.01).kind for task in (oldest, younger)]
    if held:
        script.expect(newest.accepted, "capacity", "the newest task is accepted")
        right = outcomes == ["REPLACED", "TIMED_OUT"]
        script.expect(right, "capacity", "the oldest waiting task is REPLACED at once, and no other")
    gate.open()
    script.join()
    for task in (*tasks, younger, newest):
        task.result()
    service.close()


def _occupy(script: Script, service: ServiceUnderTest, gate: Gate) -> tuple[list[ClientTask], bool]:
    """Give every worker a task that stands at the gate."""
    tasks: list[ClientTask] = []
    held = True
    for worker in range(service.workers):
        tasks.append(service.submit(script.task()))
        held &= gate.wait(worker + 1)
    return tasks, held
