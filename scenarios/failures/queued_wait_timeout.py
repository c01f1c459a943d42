"""A wait for a task that has not started times out."""

from harness.scenario import ClientTask, Script, scenario

__all__ = ["queued_wait_timeout"]


@scenario(exercises=("timeout-is-a-wait", "terminal-once", "own-output"), tasks=4)
def queued_wait_timeout(script: Script) -> None:
    """A wait that times out takes no task out of the queue.

    Claim: the wait ends, the task keeps its place and is run when its turn comes.
    Interleaving: the workers are held inside `invoke`; the wait for a task behind them times out, its client waits
        once more, and the workers are let go.
    Expected: every accepted task delivers its own output.
    """
    service = script.open_service()
    gate = script.hold("invoke")
    running: list[ClientTask] = []
    for worker in range(service.workers):
        running.append(service.submit(script.task()))
        gate.wait(worker + 1)
    queued = service.submit(script.task())
    kept = {"TIMED_OUT", "SUCCEEDED", "REFUSED"}
    outcome = queued.result(timeout=0.05).kind
    script.expect(outcome in kept, "timeout-is-a-wait", "a time-out ends the wait and not the task")
    script.actor("waiter", queued.result)
    gate.open()
    script.join()
    for task in running:
        task.result()
    service.close()
