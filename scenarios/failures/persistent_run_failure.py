"""Every run fails."""

from harness.scenario import Script, scenario

__all__ = ["persistent_run_failure"]


@scenario(exercises=("terminal-once", "private", "no-deadlock"), tasks=4)
def persistent_run_failure(script: Script) -> None:
    """A device on which nothing runs any more gives every task an error of its own, and closing returns.

    Claim: no task is kept for better times, and no worker is lost with the last failure.
    Interleaving: every run fails.
    Expected: FAILED or a refusal for every task.
    """
    service = script.open_service()
    script.arm("persistent-run-failure")
    for _ in range(2):
        tasks = [service.submit(script.task()) for _ in range(2)]
        for task in tasks:
            task.result()
    service.close()
