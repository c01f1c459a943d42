"""Running cancel against a call that really is inside native code."""

from harness.scenario import Script, scenario

__all__ = ["held_running_cancel"]


@scenario(
    exercises=("no-delivery-after-cancel", "release-after-drain"), requires=("running_cancel",), tasks=2, native="held"
)
def held_running_cancel(script: Script) -> None:
    """An interrupt ends a call inside native code, and the session is released only after that.

    Claim: the cancel of a run that would take minutes answers at once, interrupts the runtime, and close waits for
        its return.
    Interleaving: the call runs in native code while the client cancels and closes; its end is chosen after the
        interrupt.
    Expected: CANCELLED; the session is closed after the call has returned.
    """
    service = script.open_service()
    task = script.task()
    begun = script.hold("invoke", calls=1)
    running = service.submit(task)
    begun.wait()
    begun.open()
    script.sleep(0.001)
    script.expect(running.cancel(), "no-delivery-after-cancel", "a running task can be cancelled")
    running.result()
    service.close()
