"""A session, or every session, is lost."""

from harness.scenario import Script, scenario

__all__ = ["context_lost", "device_reset"]

TRIES = 3


@scenario(exercises=("fault-contained", "own-output", "quarantine"), requires=("lifecycle",), tasks=1 + TRIES)
def context_lost(script: Script) -> None:
    """A session whose context is lost is replaced, and takes no second task with it.

    Claim: a session that is found unsound after a failed run is not run again.
    Interleaving: a run loses the context of its session for good; more tasks follow.
    Expected: FAILED for the task that was struck, its own output for every other.
    """
    service = script.open_service(health_check=lambda: False)
    script.arm("context-lost")
    outcomes = [service.submit(script.task()).result().kind for _ in range(1 + TRIES)]
    script.expect(
        outcomes.count("FAILED") <= 1, "fault-contained", "a lost context fails the task that it struck alone"
    )
    service.close()


@scenario(exercises=("own-output", "quarantine", "terminal-once"), requires=("lifecycle",), tasks=7)
def device_reset(script: Script) -> None:
    """A device that was reset costs every session one task at most, and then they are as good as new.

    Claim: each slot finds out for itself, and is rebuilt before it runs again.
    Interleaving: all workers are inside `invoke` when the device is reset; more tasks follow.
    Expected: no more FAILED than there are sessions, its own output for every other task.
    """
    service = script.open_service(health_check=lambda: False)
    script.arm("device-reset")
    gate = script.hold("invoke")
    tasks = [service.submit(script.task()) for _ in range(service.workers)]
    gate.wait(service.workers)
    gate.open()
    outcomes = [task.result().kind for task in tasks]
    outcomes += [service.submit(script.task()).result().kind for _ in range(TRIES)]
    few = outcomes.count("FAILED") <= service.workers
    script.expect(few, "quarantine", "a reset of the device fails no more tasks than there were sessions")
    service.close()
