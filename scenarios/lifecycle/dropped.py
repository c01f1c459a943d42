"""A service that nobody refers to any more."""

from harness.scenario import Script, scenario

__all__ = ["dropped_with_work_in_flight"]


@scenario(exercises=("terminal-once", "own-output"), tasks=3)
def dropped_with_work_in_flight(script: Script) -> None:
    """Who still has a future gets an answer, also when the last reference to the service is gone.

    Claim: collecting the service, or not collecting it, ends no accepted task in silence.
    Interleaving: a run is held inside `invoke` and two tasks wait when the client lets go of the service; the gate
        opens.
    Expected: an outcome for each, its own output where it SUCCEEDED.
    """
    service = script.open_service()
    gate = script.hold("invoke", calls=1)
    tasks = [service.submit(script.task()) for _ in range(3)]
    gate.wait()
    service.drop()
    gate.open()
    for task in tasks:
        task.result(timeout=60.0)
