"""Cancel of a task that runs."""

from harness.scenario import Script, scenario

__all__ = ["cancel_while_running"]


@scenario(exercises=("no-delivery-after-cancel", "terminal-once"), tasks=4)
def cancel_while_running(script: Script) -> None:
    """Whatever `cancel()` answers for a running task, its outcome agrees.

    Claim: True means that the result is never delivered; False means that the task completes.
    Interleaving: the task is held inside `invoke` while it is cancelled; the gate then opens, and a second task
        follows.
    Expected: CANCELLED after True, the task's own output after False; the next task is not harmed.
    """
    service = script.open_service()
    gate = script.hold("invoke", calls=1)
    running = service.submit(script.task())
    gate.wait()
    script.actor("waiter", running.result)
    running.cancel()
    following = service.submit(script.task())
    gate.open()
    script.join()
    following.result()
    service.close()
