"""Runs fail while others wait behind them."""

from harness.scenario import ClientTask, Gate, Script, ServiceUnderTest, scenario

__all__ = ["failing_run_with_others_waiting"]

QUEUED = 2
FAILURES = 2


@scenario(exercises=("own-output", "terminal-once", "private"), tasks=7)
def failing_run_with_others_waiting(script: Script) -> None:
    """Failing runs fail their own tasks alone, also when others wait behind them, and take no place with them.

    Claim: what shares a queue or a batch with a failed task is still run, each error speaks of its own task, and
        afterwards there is as much room as before.
    Interleaving: the workers are held inside `invoke` while two more tasks are queued; once they are let go, the first
        two runs fail. Then the workers are held again, and one more task is queued.
    Expected: two FAILED, every other accepted task SUCCEEDED with its own output.
    """
    service = script.open_service(capacity=QUEUED)
    for _ in range(FAILURES):
        script.arm("run-failure")
    gate = script.hold("invoke")
    tasks = _occupy(script, service, gate)
    tasks += [service.submit(script.task()) for _ in range(QUEUED)]
    gate.open()
    outcomes = [task.result().kind for task in tasks]
    script.expect(outcomes.count("FAILED") <= FAILURES, "terminal-once", "two failed runs fail no more than two tasks")
    others = {"FAILED", "REFUSED", "SUCCEEDED"}.issuperset(outcomes)
    script.expect(others, "terminal-once", "what waited behind a failed run succeeds")
    again = script.hold("invoke")
    tasks = [*_occupy(script, service, again), service.submit(script.task())]
    again.open()
    for task in tasks:
        task.result()
    service.close()


def _occupy(script: Script, service: ServiceUnderTest, gate: Gate) -> list[ClientTask]:
    """Give every worker a task that stands at the gate."""
    tasks: list[ClientTask] = []
    for worker in range(service.workers):
        tasks.append(service.submit(script.task()))
        gate.wait(worker + 1)
    return tasks
