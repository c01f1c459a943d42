"""A session is lost, and its delegate does not come back."""

from harness.scenario import Script, scenario

__all__ = ["rebuilt_on_the_fallback"]

TRIES = 3


@scenario(
    exercises=("recovery-order", "own-output", "delegate-truth"), requires=("lifecycle", "fallback"), tasks=1 + TRIES
)
def rebuilt_on_the_fallback(script: Script) -> None:
    """A slot whose delegate does not come back is rebuilt on the declared fallback.

    Claim: a rebuild goes by the same policy as the first opening: where the plain path will do, no slot is lost.
    Interleaving: a run loses its session, and from then on the delegate's prepared asset is another version's.
    Expected: FAILED for the task that was struck, its own output for every other.
    """
    service = script.open_service(fallback=True)
    script.arm("context-lost")
    script.arm("prepared-asset-mismatch")
    first = service.submit(script.task()).result()
    script.rest()
    outcomes = [service.submit(script.task()).result().kind for _ in range(TRIES)]
    fell_back = outcomes.count("SUCCEEDED") == TRIES
    script.expect(first.kind != "FAILED" or fell_back, "recovery-order", "a slot is rebuilt on the declared fallback")
    service.close()
