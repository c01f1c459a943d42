"""What ends a thread comes out of a run."""

from harness.scenario import Script, scenario

__all__ = ["worker_death"]


@scenario(exercises=("fault-contained", "own-output", "terminal-once"), tasks=4)
def worker_death(script: Script) -> None:
    """A worker outlives what is no Exception, or is replaced.

    Claim: the task that was struck ends, and so does everything behind it.
    Interleaving: a task runs, the next one raises what no `except Exception` catches, and two more wait behind it.
    Expected: one FAILED at most, every other task its own output.
    """
    service = script.open_service()
    tasks = [service.submit(script.task())]
    tasks[0].result()
    script.arm("worker-death")
    gate = script.hold("invoke", calls=1)
    tasks.append(service.submit(script.task()))
    gate.wait()
    tasks += [service.submit(script.task()) for _ in range(2)]
    gate.open()
    for task in tasks:
        task.result()
    service.close()
