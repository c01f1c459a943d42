"""Cancel of a task that waits."""

from harness.scenario import ClientTask, Script, scenario

__all__ = ["queued_cancel"]


@scenario(exercises=("no-delivery-after-cancel", "terminal-once", "own-output"), tasks=4)
def queued_cancel(script: Script) -> None:
    """A task that is cancelled while it waits never runs, and whoever waits for it is woken.

    Claim: `cancel()` on a queued task answers True and the outcome is CANCELLED.
    Interleaving: the workers are held inside `invoke`; a waiter stands on the queued task while another actor
        cancels it.
    Expected: CANCELLED for the one, its own output for every other.
    """
    service = script.open_service()
    gate = script.hold("invoke")
    running: list[ClientTask] = []
    held = True
    for worker in range(service.workers):
        running.append(service.submit(script.task()))
        held &= gate.wait(worker + 1)
    queued = service.submit(script.task())
    script.actor("waiter", queued.result)
    cancelled = queued.cancel()
    if held:
        script.expect(cancelled, "no-delivery-after-cancel", "a queued task can be cancelled")
    gate.open()
    script.join()
    for task in running:
        task.result()
    service.close()
