"""The delegate does not start."""

from harness.scenario import Script, scenario

__all__ = ["delegate_init_failure", "delegate_init_fallback"]


@scenario(exercises=("delegate-truth",), tasks=1)
def delegate_init_failure(script: Script) -> None:
    """A delegate that does not start is a classified error, not a service that half works.

    Claim: without a declared fallback the service does not open on another path by itself.
    Interleaving: the delegate fails from the first session on.
    Expected: opening raises, and what had been opened is closed again; a service that opens all the same fails its
        tasks.
    """
    script.arm("delegate-init-failure")
    service = script.open_service()
    outcome = service.submit(script.task()).result()
    script.expect(
        outcome.kind != "SUCCEEDED", "delegate-truth", "no task succeeds without a delegate or a declared fallback"
    )
    service.close()


@scenario(exercises=("delegate-truth", "own-output", "close-once"), requires=("fallback",), tasks=3)
def delegate_init_fallback(script: Script) -> None:
    """A declared fallback takes over when the delegate does not start.

    Claim: the service opens on the plain CPU path with sessions of its own, and works.
    Interleaving: the delegate fails from the first session on; the fallback is declared.
    Expected: every task delivers its own output; every session is closed once.
    """
    script.arm("delegate-init-failure")
    service = script.open_service(fallback=True)
    tasks = [service.submit(script.task()) for _ in range(2)]
    for task in tasks:
        task.result()
    service.close()
