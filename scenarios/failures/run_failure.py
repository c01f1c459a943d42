"""A run fails in the middle of a stream of tasks."""

from harness.scenario import Script, scenario

__all__ = ["run_failure"]


@scenario(exercises=("own-output", "terminal-once", "private"), tasks=4)
def run_failure(script: Script) -> None:
    """One failed run fails its own task alone.

    Claim: the tasks before and after it deliver their own outputs, and no error text speaks of another task.
    Interleaving: a stream of tasks, of which the second run fails.
    Expected: one FAILED (none, where the service tries again), every other SUCCEEDED with its own output.
    """
    service = script.open_service()
    script.arm("run-failure", nth=2)
    first = [service.submit(script.task()) for _ in range(2)]
    outcomes = [task.result().kind for task in first]
    outcomes += [service.submit(script.task()).result().kind for _ in range(2)]
    script.expect(outcomes.count("FAILED") <= 1, "terminal-once", "one failed run fails no more than one task")
    service.close()
