"""Room for each class of requests."""

from harness.scenario import ClientTask, Script, scenario

__all__ = ["class_capacity"]


@scenario(exercises=("capacity", "terminal-once", "own-output"), requires=("overflow:reject", "classes"), tasks=7)
def class_capacity(script: Script) -> None:
    """A class that has used up its own places is refused while there is room for others.

    Claim: both bounds are exact: that of the class and that of the whole queue.
    Interleaving: the workers are held inside `invoke`; two background tasks come to a class with one place, then
        three more tasks to a queue with two places left.
    Expected: the second background task is refused and the last of the three; every accepted task delivers its own
        output.
    """
    service = script.open_service(capacity=3, classes={"default": {}, "background": {"capacity": 1}})
    gate = script.hold("invoke")
    tasks: list[ClientTask] = []
    held = True
    for worker in range(service.workers):
        tasks.append(service.submit(script.task()))
        held &= gate.wait(worker + 1)
    background = [service.submit(script.task(), request_class="background") for _ in range(2)]
    others = [service.submit(script.task()) for _ in range(3)]
    if held:
        taken = [task.accepted for task in (*background, *others)]
        script.expect(taken == [True, False, True, True, False], "capacity", "both bounds are exact")
    gate.open()
    for task in (*tasks, *background, *others):
        task.result()
    service.close()
