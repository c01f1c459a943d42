"""Malformed input among good."""

from harness.scenario import Script, scenario

__all__ = ["malformed_input"]


@scenario(exercises=("contract-first", "own-output", "terminal-once"), tasks=5)
def malformed_input(script: Script) -> None:
    """Malformed input fails before the runtime is called, and harms nobody.

    Claim: another byte order, a missing input, a value too few, a rank too many: each is refused or
        FAILED, never run as it is.
    Interleaving: good and malformed tasks take turns on the same sessions.
    Expected: every good task delivers its own output.
    """
    service = script.open_service()
    for turn in range(5):
        service.submit(script.task(malformed=turn % 2 == 0)).result()
    service.close()
