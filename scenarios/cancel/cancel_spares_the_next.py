"""Cancel of a task that runs, and the task after it."""

from harness.scenario import Script, scenario

__all__ = ["cancel_spares_the_next"]


@scenario(exercises=("terminal-once", "own-output"), tasks=4)
def cancel_spares_the_next(script: Script) -> None:
    """A cancel ends the task that it was meant for, and no other.

    Claim: what a cancel leaves behind on the session or on the service does not reach the tasks that come after.
    Interleaving: a task is cancelled while it is held inside `invoke`; two more follow, one before and one after the
        gate opens.
    Expected: each accepted task that follows delivers its own output.
    """
    service = script.open_service()
    gate = script.hold("invoke", calls=1)
    running = service.submit(script.task())
    gate.wait()
    running.cancel()
    following = service.submit(script.task())
    gate.open()
    running.result()
    outcomes = [following.result().kind, service.submit(script.task()).result().kind]
    spared = {"SUCCEEDED", "REFUSED"}.issuperset(outcomes)
    script.expect(spared, "terminal-once", "a cancel ends no task but its own")
    service.close()
