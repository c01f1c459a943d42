"""A full queue that lets its clients wait for a place."""

from harness.scenario import ClientTask, Script, ServiceUnderTest, scenario

__all__ = ["block_until_a_place_is_free", "block_with_a_time_out", "close_while_blocked"]


@scenario(exercises=("capacity", "terminal-once"), requires=("overflow:block",), tasks=4)
def block_with_a_time_out(script: Script) -> None:
    """A client that waits for a place is refused when its time is over, and not later.

    Claim: the wait for a place ends by itself.
    Interleaving: the workers are held inside `invoke` and the queue is full; the client may wait for 50 ms, and half a
        second goes by.
    Expected: the client has been refused as full by then; every accepted task delivers its own output.
    """
    service = script.open_service(capacity=1, classes={"default": {"overflow": "block", "block_seconds": 0.05}})
    gate = script.hold("invoke")
    tasks = _fill(script, service)
    held = gate.wait(service.workers)
    late, answers = script.task(), list[ClientTask]()
    script.actor("batch", lambda: answers.append(service.submit(late)))
    script.rest(0.5)
    if held:
        refused = bool(answers) and not answers[0].accepted
        script.expect(refused, "capacity", "who waits for a place is refused when the time is over")
    gate.open()
    script.join()
    for task in tasks:
        task.result()
    service.close()


@scenario(exercises=("terminal-once", "own-output", "no-deadlock"), requires=("overflow:block",), tasks=5)
def block_until_a_place_is_free(script: Script) -> None:
    """A client that waits for a place gets one when one is free, without being asked again.

    Claim: each free place wakes somebody who waits for one.
    Interleaving: two clients wait for a place behind a full queue; then the workers are let go.
    Expected: every task is accepted and delivers its own output.
    """
    service = script.open_service(capacity=1, classes={"default": {"overflow": "block"}})
    gate = script.hold("invoke")
    tasks = _fill(script, service)
    gate.wait(service.workers)
    for number in range(2):
        task = script.task()
        script.actor(f"batch-{number + 1}", lambda task=task: tasks.append(service.submit(task)))
    gate.open()
    script.join()
    for task in tasks:
        script.expect(task.result().kind == "SUCCEEDED", "terminal-once", "who waited for a place is served")
    service.close()


@scenario(exercises=("terminal-once", "close-once", "no-deadlock"), requires=("overflow:block",), tasks=4)
def close_while_blocked(script: Script) -> None:
    """Closing wakes a client that waits for a place.

    Claim: nobody waits for a place in a service that takes no more tasks.
    Interleaving: a client waits without limit for a place while the workers are held; an actor closes, and half a
        second later the client must know.
    Expected: the client is refused as closed; close returns; every accepted task ends.
    """
    service = script.open_service(capacity=1, classes={"default": {"overflow": "block"}})
    gate = script.hold("invoke")
    tasks = _fill(script, service)
    held = gate.wait(service.workers)
    late, answers = script.task(), list[ClientTask]()
    script.actor("batch", lambda: answers.append(service.submit(late)))
    script.rest()
    script.actor("closer", service.close)
    script.rest(0.5)
    if held:
        script.expect(bool(answers), "no-deadlock", "closing wakes who waits for a place")
    gate.open()
    script.join()
    for task in (*tasks, *answers):
        task.result()


def _fill(script: Script, service: ServiceUnderTest) -> list[ClientTask]:
    """Give every worker a task, which stands at the gate, and every place one."""
    tasks: list[ClientTask] = []
    for _ in range(service.workers):
        tasks.append(service.submit(script.task()))
        script.rest()
    return [*tasks, *(service.submit(script.task()) for _ in range(service.capacity))]
