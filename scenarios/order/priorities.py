"""Urgent tasks among others."""

from harness.scenario import ClientTask, Script, scenario

__all__ = ["flood_of_low_priority", "priority_inversion"]


@scenario(exercises=("order", "own-output", "terminal-once"), requires=("priority",), tasks=7)
def flood_of_low_priority(script: Script, low: int = 4) -> None:
    """An urgent task starts next, however many others wait.

    Claim: of the tasks that wait the one with the highest priority starts, and equals in the order of their coming.
    Interleaving: the workers are held inside `invoke`; four tasks of low priority wait, and an urgent one comes last.
    Expected: the urgent one starts before the others, those in their order; each delivers its own output.
    """
    service = script.open_service(capacity=low + 1, ordering="priority")
    gate = script.hold("invoke")
    tasks = [service.submit(script.task()) for _ in range(service.workers)]
    gate.wait(service.workers)
    tasks += [service.submit(script.task(), priority=0) for _ in range(low)]
    tasks.append(service.submit(script.task(), priority=9))
    gate.open()
    for task in tasks:
        task.result()
    service.close()


@scenario(exercises=("order", "own-output", "terminal-once"), requires=("priority",), tasks=7)
def priority_inversion(script: Script, middle: int = 2) -> None:
    """An urgent task that waits for a slow one is not kept waiting by those in between as well.

    Claim: preemption happens between tasks only, so an urgent task waits for what runs, and for nothing else.
    Interleaving: tasks of low priority run; two of middle priority wait; an urgent one comes while an actor sends more
        of middle priority.
    Expected: the urgent one starts as soon as a worker is free.
    """
    service = script.open_service(capacity=2 * middle + 1, ordering="priority")
    gate = script.hold("invoke")
    tasks = [service.submit(script.task(), priority=0) for _ in range(service.workers)]
    gate.wait(service.workers)
    tasks += [service.submit(script.task(), priority=5) for _ in range(middle)]
    tasks.append(service.submit(script.task(), priority=9))
    more, sent = [script.task() for _ in range(middle)], list[ClientTask]()
    script.actor("sender", lambda: sent.extend(service.submit(task, priority=5) for task in more))
    gate.open()
    script.join()
    for task in (*tasks, *sent):
        task.result()
    service.close()
