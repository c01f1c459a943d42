"""Submit once the service is closed."""

from harness.scenario import Script, scenario

__all__ = ["submit_after_close"]


@scenario(exercises=("closed-rejects", "close-once", "own-output"), tasks=3)
def submit_after_close(script: Script) -> None:
    """A closed service refuses, and opens nothing.

    Claim: a submit that begins after close() returned is refused, the second time as the first.
    Interleaving: one task runs through, the service closes, two submits follow.
    Expected: both are refused; no session opens after the close.
    """
    service = script.open_service()
    service.submit(script.task()).result()
    service.close()
    for _ in range(2):
        late = service.submit(script.task())
        script.expect(not late.accepted, "closed-rejects", "a closed service refuses")
