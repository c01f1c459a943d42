"""The device never signals that a run is done."""

from harness.scenario import Script, scenario

__all__ = ["lost_fence"]


@scenario(exercises=("fault-contained", "buffer-until-return", "own-output"), tasks=3)
def lost_fence(script: Script) -> None:
    """A fence that is never signalled frees neither session nor buffers, whoever has lost patience.

    Claim: a wait that times out leaves the task and its session as they are; other sessions go on.
    Interleaving: the fetch that comes first hangs until nobody else can move; its client gives up waiting and submits
        again.
    Expected: every task delivers its own output.
    """
    service = script.open_service()
    script.arm("lost-fence")
    first = service.submit(script.task())
    first.result(timeout=1.0)
    others = [service.submit(script.task()) for _ in range(2)]
    for task in (*others, first):
        task.result()
    service.close()
