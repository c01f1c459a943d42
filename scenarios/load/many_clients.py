"""Many clients at once."""

from harness.scenario import ClientTask, Input, Script, ServiceUnderTest, scenario

__all__ = ["many_clients"]

CLIENTS = 4


@scenario(exercises=("own-output", "terminal-once", "one-task-per-session", "owner-thread"), tasks=CLIENTS)
def many_clients(script: Script, clients: int = CLIENTS) -> None:
    """Every client gets its own answer, however the clients interleave.

    Claim: an output belongs to the task whose input it was made from.
    Interleaving: four clients submit and wait at once, within the bound of the queue; everything is left to the
        strategy.
    Expected: each accepted task delivers its own output.
    """
    service = script.open_service(capacity=clients)
    for number in range(clients):
        task = script.task()
        script.actor(f"client-{number + 1}", lambda task=task: _use(service, task))
    script.join()
    service.close()


def _use(service: ServiceUnderTest, task: Input) -> ClientTask:
    handle = service.submit(task)
    handle.result()
    return handle
