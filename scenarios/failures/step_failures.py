"""A step of a run fails before or after the invoke."""

from harness.scenario import Script, scenario

__all__ = ["allocation_failure", "bind_failure", "fetch_failure", "mapping_failure"]

EXERCISES = ("fault-contained", "own-output", "terminal-once", "private")


def _stream(script: Script, fault: str) -> None:
    """Let one run of a stream fail, with one task before it and two behind it."""
    service = script.open_service()
    tasks = [service.submit(script.task())]
    tasks[0].result()
    script.arm(fault)
    gate = script.hold("bind", calls=1)
    tasks.append(service.submit(script.task()))
    gate.wait()
    tasks += [service.submit(script.task()) for _ in range(2)]
    gate.open()
    outcomes = [task.result().kind for task in tasks]
    script.expect(outcomes.count("FAILED") <= 1, "terminal-once", "one failed step fails no more than one task")
    service.close()


@scenario(exercises=EXERCISES, tasks=4)
def allocation_failure(script: Script) -> None:
    """A run for which there is no memory fails its own task alone.

    Claim: what the runtime raises is no error of the adapter's, and the worker survives it all the same.
    Interleaving: a task runs, the next one's bind raises MemoryError, and two more wait behind it.
    Expected: one FAILED at most, every other task its own output.
    """
    _stream(script, "allocation-failure")


@scenario(exercises=EXERCISES, tasks=4)
def mapping_failure(script: Script) -> None:
    """A buffer that cannot be mapped fails its own task alone.

    Claim: nothing of the run is left bound to the session.
    Interleaving: a task runs, the next one cannot map its buffer, and two more wait behind it.
    Expected: one FAILED at most, every other task its own output.
    """
    _stream(script, "mapping-failure")


@scenario(exercises=EXERCISES, tasks=4)
def bind_failure(script: Script) -> None:
    """Inputs that the runtime does not take fail their own task alone.

    Claim: the next run binds its own inputs, not what was bound before.
    Interleaving: a task runs, the next one's bind fails, and two more wait behind it.
    Expected: one FAILED at most, every other task its own output.
    """
    _stream(script, "bind-failure")


@scenario(exercises=EXERCISES, tasks=4)
def fetch_failure(script: Script) -> None:
    """Outputs that cannot be read fail their own task alone, though the run went well.

    Claim: nobody is given what was left unread.
    Interleaving: a task runs, the next one's fetch fails, and two more wait behind it.
    Expected: one FAILED at most, every other task its own output.
    """
    _stream(script, "fetch-failure")
