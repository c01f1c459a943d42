"""Running cancel, by services that declare it."""

from harness.scenario import Script, scenario

__all__ = ["running_cancel"]


@scenario(
    exercises=("no-delivery-after-cancel", "terminal-once", "release-after-drain", "one-task-per-session"),
    requires=("running_cancel",),
    tasks=4,
)
def running_cancel(script: Script) -> None:
    """A running task that is cancelled ends at once; its session stays taken until the native call has returned.

    Claim: `cancel()` answers True, says that it was running, and the waiter wakes while the call is still in flight.
    Interleaving: the call is held inside `invoke` across the cancel, the waiter's wake-up and the begin of closing.
    Expected: CANCELLED; nothing is released and no other task gets the session before the call ends.
    """
    service = script.open_service()
    gate = script.hold("invoke", calls=1)
    running = service.submit(script.task())
    gate.wait()
    script.expect(running.cancel(), "no-delivery-after-cancel", "a running task can be cancelled")
    outcome = running.result()
    script.expect(outcome.kind == "CANCELLED", "no-delivery-after-cancel", "a cancelled task is CANCELLED at once")
    following = service.submit(script.task())
    script.actor("closer", service.close)
    gate.open()
    following.result()
    script.join()
