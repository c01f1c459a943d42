"""A model that remembers."""

from harness.scenario import Script, scenario

__all__ = ["hidden_state"]


@scenario(exercises=("own-output", "terminal-once"), tasks=3)
def hidden_state(script: Script) -> None:
    """A then B on one service answers B as B alone does.

    Claim: nothing of one task reaches the next through the session. Where the model itself remembers, nobody can
        tell: UNKNOWN.
    Interleaving: three tasks one after the other.
    Expected: each delivers what a fresh session gives.
    """
    service = script.open_service()
    for _ in range(3):
        service.submit(script.task()).result()
    service.close()
