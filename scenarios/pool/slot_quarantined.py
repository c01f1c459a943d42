"""A slot that nobody can vouch for."""

from harness.scenario import Script, scenario

__all__ = ["slot_failure_spares_the_other", "slot_quarantined"]


@scenario(exercises=("quarantine", "own-output", "terminal-once", "close-once"), requires=("lifecycle",), tasks=4)
def slot_quarantined(script: Script, tasks: int = 4) -> None:
    """A slot whose session is not found sound after a failed run is rebuilt before anybody gets it again.

    Claim: nothing runs on the session in doubt; it is released, and a new one takes its place.
    Interleaving: the first run fails, and the health check says no; three more tasks follow.
    Expected: one FAILED; every other task delivers its own output; each session is closed once.
    """
    service = script.open_service(capacity=tasks, health_check=lambda: False)
    script.arm("run-failure")
    submitted = [service.submit(script.task()) for _ in range(tasks)]
    for task in submitted:
        task.result()
    service.close()


@scenario(exercises=("quarantine", "own-output", "terminal-once"), requires=("lifecycle",), tasks=5)
def slot_failure_spares_the_other(script: Script) -> None:
    """While one slot is rebuilt the others go on.

    Claim: loading stalls nobody but its own slot.
    Interleaving: a run fails and the health check says no; the new session's opening is held while more tasks come.
    Expected: where there is another slot the tasks that follow are answered before the opening goes on; in any case
        each delivers its own output in the end.
    """
    service = script.open_service(capacity=4, health_check=lambda: False)
    script.arm("run-failure")
    opening = script.hold("session-open", calls=1)
    first = service.submit(script.task())
    held = opening.wait()
    following = [service.submit(script.task()) for _ in range(2)]
    script.rest()
    if held and script.workers > 1:
        outcomes = {task.result(timeout=0.01).kind for task in following}
        script.expect(outcomes == {"SUCCEEDED"}, "terminal-once", "loading stalls nobody but its own slot")
    opening.open()
    for task in (first, *following):
        task.result()
    service.close()
