"""The first requests, all at once."""

from harness.scenario import ClientTask, Input, Script, ServiceUnderTest, scenario

__all__ = ["lazy_open"]

CLIENTS = 3


@scenario(exercises=("own-output", "terminal-once", "close-once"), requires=("lifecycle",), tasks=CLIENTS + 1)
def lazy_open(script: Script, clients: int = CLIENTS) -> None:
    """First requests that come together load the model once for each slot, and no more.

    Claim: a slot that is being opened is opened by one worker, and whoever comes meanwhile waits for it.
    Interleaving: the service opens lazily; three clients submit at once while openings take their time, a fourth later.
    Expected: no more sessions than slots; each task delivers its own output.
    """
    service = script.open_service(capacity=clients, lazy=True)
    for number in range(clients):
        task = script.task()
        script.actor(f"client-{number + 1}", lambda task=task: _use(service, task))
    script.join()
    service.submit(script.task()).result()
    once = script.sessions <= script.workers
    script.expect(once, "close-once", "concurrent first requests load once for each slot")
    service.close()


def _use(service: ServiceUnderTest, task: Input) -> ClientTask:
    handle = service.submit(task)
    handle.result()
    return handle
