"""Time-outs of a wait and of a run."""

from harness.scenario import Script, scenario

__all__ = ["run_timeout", "wait_timeout"]


@scenario(exercises=("timeout-is-a-wait", "terminal-once", "own-output"), tasks=3)
def wait_timeout(script: Script) -> None:
    """A wait that times out leaves the task where it was.

    Claim: the wait ends, the task does not: it is tracked to its outcome, and a retry is a task of its own.
    Interleaving: the task is held inside `invoke` while its client's wait times out; the client then retries.
    Expected: both the task and the retry deliver their own outputs.
    """
    service = script.open_service()
    gate = script.hold("invoke", calls=1)
    task = service.submit(script.task())
    held = gate.wait()
    waited = task.result(timeout=0.05)
    if held:
        script.expect(waited.kind == "TIMED_OUT", "timeout-is-a-wait", "a wait ends when its time is over")
    retry = service.submit(script.task())
    gate.open()
    task.result()
    retry.result()
    service.close()


@scenario(exercises=("terminal-once", "own-output", "private"), tasks=3)
def run_timeout(script: Script) -> None:
    """A run that the runtime gives up fails its own task, late, and nobody else's.

    Claim: the task is FAILED once the runtime has given up; the next task gets its own output.
    Interleaving: the run that comes first takes five virtual seconds and then fails; a wait of one second times out.
    Expected: FAILED for that task, its own output for the other.
    """
    service = script.open_service()
    script.arm("run-timeout")
    late = service.submit(script.task())
    late.result(timeout=1.0)
    following = service.submit(script.task())
    outcomes = [late.result().kind, following.result().kind]
    script.expect(outcomes.count("FAILED") <= 1, "terminal-once", "the run that timed out fails its own task alone")
    service.close()
