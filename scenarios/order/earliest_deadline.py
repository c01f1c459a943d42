"""The most pressing deadline first."""

from harness.scenario import Script, scenario

__all__ = ["earliest_deadline"]

SECONDS = (900.0, 300.0, 600.0)


@scenario(exercises=("order", "own-output", "terminal-once"), requires=("earliest-deadline", "deadline"), tasks=6)
def earliest_deadline(script: Script, deadlines: tuple[float, ...] = SECONDS) -> None:
    """Of the tasks that wait the one that is due first starts first, and those without a deadline last.

    Claim: the order of coming decides among equals alone.
    Interleaving: the workers are held inside `invoke` while a task without a deadline and three with deadlines of 15, 5
        and 10 minutes come.
    Expected: they start in the order of their deadlines; each delivers its own output.
    """
    service = script.open_service(capacity=1 + len(deadlines), ordering="earliest-deadline")
    gate = script.hold("invoke")
    tasks = [service.submit(script.task()) for _ in range(service.workers)]
    gate.wait(service.workers)
    tasks.append(service.submit(script.task()))
    tasks += [service.submit(script.task(), deadline=seconds) for seconds in deadlines]
    gate.open()
    for task in tasks:
        task.result()
    service.close()
