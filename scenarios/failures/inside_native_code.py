"""Cancel, close and give up while a run really is inside native code."""

from harness.scenario import Script, scenario

__all__ = ["held_budget_inside_native_code", "held_cancel_inside_native_code", "held_close_inside_native_code"]


@scenario(
    exercises=("buffer-until-return", "no-delivery-after-cancel", "own-output", "release-after-drain"),
    requires=("running_cancel",),
    tasks=3,
    native="held",
    arms=("native-hang",),
)
def held_cancel_inside_native_code(script: Script) -> None:
    """A task that is cancelled while its run is inside native code keeps its session and its buffers until the return.

    Claim: the client is told at once, though nothing can end the call; nobody else gets the session before it has
        returned.
    Interleaving: the first run is parked in native code; its task is cancelled, and another one is submitted.
    Expected: CANCELLED while the call is still inside; the other task runs elsewhere at once, or after the return.
    """
    service = script.open_service()
    script.arm("native-hang")
    held = service.submit(script.task())
    script.rest()
    script.expect(held.cancel(), "no-delivery-after-cancel", "a task that runs in native code can be cancelled")
    script.expect(
        held.result(timeout=0.0).kind == "CANCELLED", "no-delivery-after-cancel", "its client is told at once"
    )
    other = service.submit(script.task())
    script.rest()
    elsewhere = other.result(timeout=0.0).kind == "SUCCEEDED"
    script.expect(elsewhere or service.workers == 1, "fault-contained", "the other workers go on meanwhile")
    other.result()
    service.close()


@scenario(
    exercises=("close-once", "no-deadlock", "owner-thread", "release-after-drain", "terminal-once"),
    tasks=3,
    native="held",
    arms=("native-hang",),
)
def held_close_inside_native_code(script: Script) -> None:
    """A service that is closed while a run is inside native code releases its session after the return.

    Claim: close waits for the call, which nothing can end, and frees nothing under it.
    Interleaving: the first run is parked in native code, another task is submitted, an actor closes, and everybody
        does what can be done before the call returns.
    Expected: close has not returned by then; in the end both tasks have an outcome and each session is closed once.
    """
    service = script.open_service()
    script.arm("native-hang")
    held = service.submit(script.task())
    script.rest()
    other = service.submit(script.task())
    script.actor("closer", service.close)
    script.rest()
    held.result()
    other.result()
    script.join()


@scenario(
    exercises=("buffer-until-return", "expires-on-time", "own-output", "terminal-once"),
    requires=("run-budget",),
    tasks=3,
    native="held",
    arms=("native-hang",),
)
def held_budget_inside_native_code(script: Script) -> None:
    """A run that is over its budget inside native code fails its task, and keeps its session until the return.

    Claim: the task ends when the budget is over, though nothing can end the call; nobody gets the session under it.
    Interleaving: the first run is parked in native code for ten times its budget, then another task is submitted.
    Expected: FAILED while the call is still inside; the other task delivers its own output.
    """
    service = script.open_service(run_budget=0.05)
    script.arm("native-hang")
    held = service.submit(script.task())
    script.rest(0.5)
    outcome = held.result(timeout=0.01).kind
    script.expect(outcome == "FAILED", "expires-on-time", "a run that is over its budget fails its task")
    service.submit(script.task()).result()
    service.close()
