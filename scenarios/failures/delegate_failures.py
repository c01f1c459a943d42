"""The delegate gets further than its start, and fails then."""

from harness.scenario import Script, scenario

__all__ = ["compile_timeout", "delegate_create_failure", "delegate_prepare_failure", "prepared_asset_mismatch"]


def _fall_back(script: Script, fault: str) -> None:
    script.arm(fault)
    service = script.open_service(fallback=True)
    tasks = [service.submit(script.task()) for _ in range(2)]
    for task in tasks:
        task.result()
    service.close()


@scenario(exercises=("delegate-truth", "own-output", "close-once"), requires=("fallback",), tasks=2)
def delegate_create_failure(script: Script) -> None:
    """A delegate that is not there once costs one session its delegate, not the service.

    Claim: the declared fallback takes over for that session, and the others have what they asked for.
    Interleaving: the first session does not get its delegate.
    Expected: every task delivers its own output; every session is closed once.
    """
    _fall_back(script, "delegate-create-failure")


@scenario(exercises=("delegate-truth", "own-output", "close-once"), requires=("fallback",), tasks=2)
def delegate_prepare_failure(script: Script) -> None:
    """A delegate that does not take the graph is one that does not start.

    Claim: the declared fallback takes over, with sessions of its own.
    Interleaving: the delegate starts, and refuses the graph whenever it is asked.
    Expected: every task delivers its own output; every session is closed once.
    """
    _fall_back(script, "delegate-prepare-failure")


@scenario(exercises=("delegate-truth", "own-output", "close-once"), requires=("fallback",), tasks=2)
def compile_timeout(script: Script) -> None:
    """A delegate that compiles for too long is given up, and the service opens all the same.

    Claim: the time that it took is no client's.
    Interleaving: the first session compiles for a minute of virtual time and is then given up.
    Expected: every task delivers its own output; every session is closed once.
    """
    _fall_back(script, "compile-timeout")


@scenario(exercises=("delegate-truth",), tasks=1)
def prepared_asset_mismatch(script: Script) -> None:
    """A prepared asset of another runtime version is a classified error, and half a service is none.

    Claim: what had been opened is closed again, and a task that was accepted ends.
    Interleaving: from the last session that the service needs on, the asset is another version's.
    Expected: opening raises, or every accepted task ends with an outcome.
    """
    script.arm("prepared-asset-mismatch", nth=script.workers)
    service = script.open_service()
    service.submit(script.task()).result()
    service.close()
