"""Two parts of an application that use the same model."""

from harness.scenario import ClientTask, Input, Script, ServiceUnderTest, scenario

__all__ = ["two_clients_of_one_model"]


@scenario(exercises=("residency", "own-output", "terminal-once"), requires=("residency",), tasks=5)
def two_clients_of_one_model(script: Script) -> None:
    """Two clients of one model share its sessions, each has its own answers, and one that leaves takes nothing away.

    Claim: the second client loads nothing; the sessions are released when the last one has left.
    Interleaving: both ask for the model before either has closed, and submit at once; the first closes while the task
        of the second may still run, and the second goes on.
    Expected: no more sessions than slots; its own output for each accepted task.
    """
    first = script.open_service(resident=True)
    second = script.open_service(resident=True)
    tasks: list[ClientTask] = []
    mine, yours = script.task(), script.task()
    script.actor("first", lambda: _use_and_leave(first, mine))
    script.actor("second", lambda: tasks.append(second.submit(yours)))
    script.join()
    tasks.append(second.submit(script.task()))
    for task in tasks:
        task.result()
    second.close()


def _use_and_leave(service: ServiceUnderTest, task: Input) -> None:
    service.submit(task).result()
    service.close()
