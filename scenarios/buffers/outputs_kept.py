"""A client keeps its results."""

from harness.scenario import ClientTask, Script, scenario

__all__ = ["outputs_kept"]


@scenario(exercises=("output-owned", "own-output"), tasks=4)
def outputs_kept(script: Script) -> None:
    """A delivered output never changes later.

    Claim: the output belongs to the task, not to the session that made it.
    Interleaving: each result is kept while later tasks run on the same session, and looked at again after every one.
    Expected: it is the same each time, and after close.
    """
    service = script.open_service()
    kept: list[ClientTask] = []
    for _ in range(3):
        task = service.submit(script.task())
        task.result()
        kept.append(task)
        for earlier in kept:
            earlier.recheck()
    service.close()
