"""Runs fail while others wait behind them."""

from harness.scenario import ClientTask, Script, scenario

__all__ = ["failing_run_with_others_waiting"]


@scenario(exercises=("own-output", "terminal-once", "private"), tasks=6)
def failing_run_with_others_waiting(script: Script) -> None:
    """Failing runs fail their own tasks alone, also when others already wait behind them.

    Claim: what shares a queue or a batch with a failed task is still run, and each error speaks of its own task.
    Interleaving: the workers are held inside `invoke` while three more tasks are queued; once they are let go, two of
        the next runs fail.
    Expected: two FAILED, every other accepted task SUCCEEDED with its own output.
    """
    service = script.open_service(capacity=3)
    gate = script.hold("invoke", calls=service.workers)
    tasks: list[ClientTask] = []
    for worker in range(service.workers):
        tasks.append(service.submit(script.task()))
        gate.wait(worker + 1)
    tasks += [service.submit(script.task()) for _ in range(3)]
    for _ in range(2):
        script.arm("run-failure")
    gate.open()
    outcomes = [task.result().kind for task in tasks]
    failed, refused = outcomes.count("FAILED"), outcomes.count("REFUSED")
    script.expect(failed == 2, "terminal-once", "two failed runs fail two tasks")  # noqa: PLR2004 - as armed above
    others = outcomes.count("SUCCEEDED") == len(outcomes) - failed - refused
    script.expect(others, "terminal-once", "what waited behind a failed run succeeds")
    service.close()
