"""A run returns what is not its answer."""

from harness.scenario import Script, scenario

__all__ = ["nan_output", "stale_output", "truncated_output", "wrong_output", "wrong_shape"]

BEFORE, AFTER = 2, 2
EXERCISES = ("fault-contained", "own-output")


def _lie(script: Script, fault: str) -> None:
    """Let the run after the first few lie, with others before, beside and behind it."""
    service = script.open_service()
    script.arm(fault, nth=1 if fault == "stale-output" else BEFORE)
    before = [service.submit(script.task()) for _ in range(BEFORE)]
    for task in before:
        task.result()
    for _ in range(AFTER):
        service.submit(script.task()).result()
    for task in before:
        task.recheck()
    service.close()


@scenario(exercises=EXERCISES, tasks=BEFORE + AFTER)
def wrong_output(script: Script) -> None:
    """A run that computes something else harms its own task alone.

    Claim: the values reach no other task, and nothing is kept of them.
    Interleaving: one run among others returns values that belong to no task.
    Expected: every other task delivers its own output.
    """
    _lie(script, "wrong-output")


@scenario(exercises=EXERCISES, tasks=BEFORE + AFTER)
def nan_output(script: Script) -> None:
    """A run that returns NaN harms its own task alone.

    Claim: NaN gets into nothing that later tasks are answered with.
    Interleaving: one run among others returns NaN.
    Expected: every other task delivers its own output.
    """
    _lie(script, "nan-output")


@scenario(exercises=EXERCISES, tasks=BEFORE + AFTER)
def stale_output(script: Script) -> None:
    """A run that returns what the run before it returned harms its own task alone.

    Claim: the service does not hand on what it has not just been given.
    Interleaving: one run returns the outputs of the run before it on the same session.
    Expected: every other task delivers its own output.
    """
    _lie(script, "stale-output")


@scenario(exercises=EXERCISES, tasks=BEFORE + AFTER)
def wrong_shape(script: Script) -> None:
    """A run that returns another rank harms its own task alone.

    Claim: whether the service hands it on or fails the task, the next one is served.
    Interleaving: one run among others returns a dimension too many.
    Expected: every other task delivers its own output.
    """
    _lie(script, "wrong-shape")


@scenario(exercises=EXERCISES, tasks=BEFORE + AFTER)
def truncated_output(script: Script) -> None:
    """A run that returns too little harms its own task alone.

    Claim: what is missing is not made up from what another task got.
    Interleaving: one run among others returns the first half of its outputs.
    Expected: every other task delivers its own output.
    """
    _lie(script, "truncated-output")
