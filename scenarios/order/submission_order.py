"""First in, first out."""

from harness.scenario import Script, scenario

__all__ = ["submission_order"]


@scenario(exercises=("order", "own-output", "terminal-once"), requires=("fifo",), tasks=5)
def submission_order(script: Script) -> None:
    """Tasks start in the order in which they were submitted.

    Claim: nobody is overtaken by a task that came later.
    Interleaving: the workers are held inside `invoke` while three tasks are submitted one after the other.
    Expected: they start in that order; each delivers its own output.
    """
    service = script.open_service(capacity=3)
    gate = script.hold("invoke")
    tasks = [service.submit(script.task()) for _ in range(service.workers)]
    gate.wait(service.workers)
    tasks += [service.submit(script.task()) for _ in range(3)]
    gate.open()
    for task in tasks:
        task.result()
    service.close()
