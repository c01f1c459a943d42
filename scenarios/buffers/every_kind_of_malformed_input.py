"""Every way in which an input can be malformed, one after the other."""

from harness.scenario import Script, scenario

__all__ = ["every_kind_of_malformed_input"]

KINDS = 4


@scenario(exercises=("contract-first", "own-output", "terminal-once"), tasks=KINDS + 2)
def every_kind_of_malformed_input(script: Script) -> None:
    """Another byte order, a value too few, a rank too many, a missing input: none is run as it is.

    Claim: nothing is misread, padded, cut or filled up with what the last call left.
    Interleaving: one good task first, so that there is something left over; then each kind once, and a good task.
    Expected: each malformed task is refused or FAILED, or answered as what it says it is; both good ones deliver their
        own outputs.
    """
    service = script.open_service()
    malformed = [script.task(malformed=True) for _ in range(KINDS)]
    service.submit(script.task()).result()
    for task in malformed:
        service.submit(task).result()
    service.submit(script.task()).result()
    service.close()
