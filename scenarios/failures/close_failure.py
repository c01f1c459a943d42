"""A session's release fails or hangs."""

from harness.scenario import Script, scenario

__all__ = ["close_failure", "close_hang"]


@scenario(exercises=("fault-contained", "close-once", "own-output"), tasks=3)
def close_failure(script: Script) -> None:
    """A session that is not released hides no outcome, and keeps no other from being released.

    Claim: closing goes on to the end, whatever one release says.
    Interleaving: the first release fails, before anybody has asked for a result.
    Expected: every accepted task delivers its own output; every session is closed once.
    """
    service = script.open_service()
    script.arm("close-failure")
    tasks = [service.submit(script.task()) for _ in range(3)]
    service.close()
    for task in tasks:
        task.result()


@scenario(exercises=("fault-contained", "close-once", "own-output"), tasks=2)
def close_hang(script: Script) -> None:
    """A release that does not return keeps closing waiting, and nobody else.

    Claim: clients have their results while it hangs, and `close()` does not say that it is done before it is.
    Interleaving: the first release hangs until nobody else can move.
    Expected: every accepted task delivers its own output; `close()` returns after the last release.
    """
    service = script.open_service()
    script.arm("close-hang")
    tasks = [service.submit(script.task()) for _ in range(2)]
    script.actor("closer", service.close)
    script.rest()
    for task in tasks:
        task.result()
    script.join()
