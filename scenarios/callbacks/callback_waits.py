"""A callback that waits for somebody who needs the service."""

from harness.scenario import ClientTask, Script, scenario

__all__ = ["callback_waits_for_another_client", "cancel_callback_waits_for_another_client"]


@scenario(exercises=("callback-safe", "terminal-once", "no-deadlock"), requires=("callbacks",), tasks=3)
def callback_waits_for_another_client(script: Script) -> None:
    """A callback may wait for a client that submits: no lock of the service is held while it runs.

    Claim: a callback that blocks delays its own worker alone.
    Interleaving: the callback of a task that ends on a worker starts a client, which submits another task, and waits
        until that submit has returned.
    Expected: the submit returns, the callback ends, every accepted task ends.
    """
    service = script.open_service()
    task, other = script.task(), script.task()
    gate = script.hold("invoke", calls=1)
    first = service.submit(task)
    gate.wait()
    submitted: list[ClientTask] = []

    def wait_for_another() -> None:
        script.actor("another", lambda: submitted.append(service.submit(other)))
        script.join()

    first.on_done(wait_for_another)
    gate.open()
    first.result()
    service.close()
    for each in submitted:
        each.result()


@scenario(exercises=("callback-safe", "terminal-once", "no-deadlock"), requires=("callbacks",), tasks=4)
def cancel_callback_waits_for_another_client(script: Script) -> None:
    """A callback that a cancel runs may wait for a client that submits.

    Claim: the cancelled task's callbacks are run once, by the canceller or by the service, with no lock held.
    Interleaving: the workers are held inside `invoke`; a task behind them is cancelled, and its callback waits for a
        client that submits another.
    Expected: the submit and the cancel return; every task that was not cancelled delivers its own output.
    """
    service = script.open_service(capacity=2)
    gate = script.hold("invoke")
    running = [service.submit(script.task()) for _ in range(service.workers)]
    gate.wait(service.workers)
    queued, other = service.submit(script.task()), script.task()
    submitted: list[ClientTask] = []

    def wait_for_another() -> None:
        script.actor("another", lambda: submitted.append(service.submit(other)))
        script.join()

    queued.on_done(wait_for_another)
    queued.cancel()
    gate.open()
    for each in (*running, *submitted, queued):
        each.result()
    service.close()
