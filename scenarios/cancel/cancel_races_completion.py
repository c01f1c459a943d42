"""Cancel at the moment of completion."""

from harness.scenario import Script, scenario

__all__ = ["cancel_races_completion"]


@scenario(exercises=("no-delivery-after-cancel", "terminal-once", "own-output"), tasks=3)
def cancel_races_completion(script: Script) -> None:
    """A cancel that races with the end of its task answers what the outcome then is.

    Claim: True and CANCELLED, or False and the task's own output: never one with the other.
    Interleaving: two actors cancel the task twice each while it runs and completes; a neighbour runs through.
    Expected: answer and outcome agree; the neighbour delivers its own output.
    """
    service = script.open_service()
    task = service.submit(script.task())
    script.actor("canceller-1", task.cancel)
    script.actor("canceller-2", task.cancel)
    neighbour = service.submit(script.task())
    task.result()
    neighbour.result()
    script.join()
    service.close()
