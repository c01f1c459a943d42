"""Close more than once."""

from harness.scenario import Script, scenario

__all__ = ["close_from_two_threads", "close_twice"]


@scenario(exercises=("close-once", "terminal-once"), tasks=2)
def close_twice(script: Script) -> None:
    """A second close does nothing and returns.

    Claim: sessions are released exactly once, however often the service is closed.
    Interleaving: one task, then two closes one after the other.
    Expected: both return; each session is closed once.
    """
    service = script.open_service()
    task = service.submit(script.task())
    service.close()
    service.close()
    task.result()


@scenario(exercises=("close-once", "terminal-once", "no-deadlock"), tasks=4)
def close_from_two_threads(script: Script) -> None:
    """Two closes at once both return only when closing is done.

    Claim: neither close returns while a session is open or a call is in flight.
    Interleaving: two actors close while a task runs and another waits.
    Expected: both closes return, each session is closed once, both tasks end.
    """
    service = script.open_service()
    tasks = [service.submit(script.task()) for _ in range(2)]
    script.actor("closer-1", service.close)
    script.actor("closer-2", service.close)
    script.join()
    for task in tasks:
        task.result()
