"""The caller reuses its input buffer."""

from harness.scenario import Script, scenario

__all__ = ["input_overwritten"]


@scenario(exercises=("input-frozen", "own-output"), tasks=4)
def input_overwritten(script: Script) -> None:
    """What runs is what was submitted, whatever the caller writes into its array afterwards.

    Claim: the input is private to the task from the moment that submit returned.
    Interleaving: the first task is held before `bind`, the second waits or runs; the caller overwrites both arrays
        with decoys.
    Expected: both deliver the outputs of what was submitted.
    """
    service = script.open_service()
    gate = script.hold("bind")
    tasks = [service.submit(script.task()) for _ in range(2)]
    gate.wait()
    for task in tasks:
        if task.accepted:
            task.overwrite_input()
    gate.open()
    for task in tasks:
        task.result()
    service.close()
