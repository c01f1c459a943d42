"""A run does not return."""

from harness.scenario import Script, scenario

__all__ = ["cancel_ends_a_hang", "run_hang"]


@scenario(exercises=("fault-contained", "own-output", "terminal-once"), tasks=3)
def run_hang(script: Script) -> None:
    """A run that hangs holds up its own session alone.

    Claim: the other workers go on, what waits behind the hang runs when it ends, and closing waits for it.
    Interleaving: the run that comes first hangs, another task is submitted, and everybody does what can be done.
    Expected: with two workers one task has ended by then; in the end every task delivers its own output.
    """
    service = script.open_service()
    script.arm("run-hang")
    tasks = [service.submit(script.task()) for _ in range(2)]
    script.rest()
    outcomes = [task.result(timeout=0.0).kind for task in tasks]
    held_up = outcomes.count("TIMED_OUT") > 1 and service.workers > 1
    script.expect(not held_up, "fault-contained", "a run that hangs holds up its own session alone")
    later = service.submit(script.task())
    script.actor("waiter", later.result)
    service.close()
    script.join()


@scenario(
    exercises=("fault-contained", "own-output", "no-delivery-after-cancel"), requires=("running_cancel",), tasks=2
)
def cancel_ends_a_hang(script: Script) -> None:
    """A task whose run hangs can be cancelled, and whoever comes after it is served.

    Claim: the client is told at once; the session is used again only after the call has returned, by an interrupt or
        late.
    Interleaving: the first run hangs, its task is cancelled, and one more task is submitted.
    Expected: CANCELLED for the first, its own output for the second.
    """
    service = script.open_service()
    script.arm("run-hang")
    hung = service.submit(script.task())
    script.rest()
    hung.cancel()
    hung.result()
    service.submit(script.task()).result()
    service.close()
