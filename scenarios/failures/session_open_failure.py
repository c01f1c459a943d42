"""A session does not open."""

from harness.scenario import Script, scenario

__all__ = ["session_open_failure"]


@scenario(exercises=("delegate-truth",), tasks=1)
def session_open_failure(script: Script) -> None:
    """A session that does not open leaks no other, and nobody waits for it for ever.

    Claim: what had been opened is closed again, and a task that was accepted ends.
    Interleaving: the last session that the service needs fails to open.
    Expected: opening raises a classified error, or every accepted task ends with an outcome.
    """
    script.arm("session-open-failure", nth=script.workers)
    service = script.open_service()
    service.submit(script.task()).result()
    service.close()
