"""The clocks jump."""

from harness.scenario import ClientTask, Script, scenario

__all__ = ["clock_jump"]


@scenario(exercises=("own-output", "expires-on-time"), requires=("deadline",), tasks=4)
def clock_jump(script: Script) -> None:
    """A clock that jumps by hours, as after a suspend, ends what was due by then and nothing else.

    Claim: a task without a deadline is not taken for old.
    Interleaving: the workers are inside `invoke`, two tasks wait, one of them with a deadline of a minute, and every
        clock jumps three hours ahead.
    Expected: its own output for every task without a deadline.
    """
    service = script.open_service(capacity=2)
    script.arm("clock-jump", nth=service.workers)
    gate = script.hold("invoke")
    tasks: list[ClientTask] = []
    for worker in range(service.workers):
        tasks.append(service.submit(script.task()))
        gate.wait(worker + 1)
    tasks.append(service.submit(script.task()))
    due = service.submit(script.task(), deadline=60.0)
    gate.open()
    outcomes = [task.result().kind for task in tasks]
    lasting = set(outcomes) <= {"SUCCEEDED", "REFUSED"}
    script.expect(lasting, "expires-on-time", "a task without a deadline outlives a jump of the clock")
    due.result()
    service.close()
