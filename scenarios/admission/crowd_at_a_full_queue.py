"""More clients than places, all at once."""

from harness.scenario import ClientTask, Script, scenario

__all__ = ["crowd_at_a_full_queue"]


@scenario(exercises=("capacity", "own-output", "terminal-once"), requires=("overflow:reject",), tasks=7)
def crowd_at_a_full_queue(script: Script, places: int = 2, before: int = 2) -> None:
    """Clients that come at the same moment do not fill a queue beyond its bound.

    Claim: of more clients than there are places, at most `capacity` are accepted, and each of those gets its answer.
    Interleaving: two tasks run through first; then the workers are held inside `invoke`, and three actors submit at
        once to a queue for two.
    Expected: at least one actor is refused; every accepted task delivers its own output.
    """
    service = script.open_service(capacity=places)
    for _ in range(before):
        service.submit(script.task()).result()
    gate = script.hold("invoke")
    accepted: list[ClientTask] = []
    for worker in range(service.workers):
        accepted.append(service.submit(script.task()))
        gate.wait(worker + 1)
    for number in range(service.capacity + 1):
        task = script.task()
        script.actor(f"client-{number + 1}", lambda task=task: accepted.append(service.submit(task)))
    script.join()
    gate.open()
    for task in accepted:
        task.result()
    service.close()
