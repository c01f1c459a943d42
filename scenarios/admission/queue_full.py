"""A full queue."""

from harness.scenario import ClientTask, Script, scenario

__all__ = ["queue_full"]


@scenario(exercises=("capacity", "own-output", "terminal-once"), requires=("overflow:reject",), tasks=5)
def queue_full(script: Script) -> None:
    """A full queue refuses at once, and what it accepted still runs.

    Claim: with every worker inside `invoke` and `capacity` tasks waiting, one more is refused without blocking.
    Interleaving: the workers are held inside `invoke` while the queue is filled.
    Expected: the last submit is refused; every accepted task delivers its own output.
    """
    service = script.open_service()
    gate = script.hold("invoke")
    accepted: list[ClientTask] = []
    held = True
    for worker in range(service.workers):
        accepted.append(service.submit(script.task()))
        held &= gate.wait(worker + 1)
    accepted += [service.submit(script.task()) for _ in range(service.capacity)]
    one_more = service.submit(script.task())
    if held:
        script.expect(not one_more.accepted, "capacity", "a full queue refuses")
    gate.open()
    for task in accepted:
        task.result()
    service.close()
