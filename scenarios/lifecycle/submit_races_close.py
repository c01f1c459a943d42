"""Submit, cancel and close at once."""

from harness.scenario import Script, scenario

__all__ = ["submit_races_close"]


@scenario(exercises=("terminal-once", "close-once", "no-deadlock"), tasks=2)
def submit_races_close(script: Script) -> None:
    """A submit that overlaps close may go either way, but accepted means an outcome.

    Claim: two submitters, a canceller and a closer leave no task pending and nobody waiting.
    Interleaving: all four are actors; everything is left to the strategy.
    Expected: each accepted task ends once; close returns.
    """
    service = script.open_service()
    inputs = [script.task(), script.task()]

    def submit_and_wait() -> None:
        service.submit(inputs[0]).result()

    def submit_and_cancel() -> None:
        task = service.submit(inputs[1])
        script.actor("canceller", task.cancel)

    script.actor("submitter-1", submit_and_wait)
    script.actor("submitter-2", submit_and_cancel)
    script.actor("closer", service.close)
    script.join()
