"""A task is given up at the moment when its run begins."""

from harness.scenario import Script, scenario

__all__ = ["cancel_races_the_bind", "expiry_races_the_bind", "held_cancel_races_the_bind"]

# What is asked of the runtime is judged by `recovery-order`, where it can be asked: that is no premise, since not every
# runtime can be interrupted, and a service need not.
DUE_SECONDS = 0.05


@scenario(exercises=("no-delivery-after-cancel", "terminal-once"), requires=("running_cancel",), tasks=2)
def cancel_races_the_bind(script: Script) -> None:
    """A run whose task is cancelled when a worker has taken it and has not bound it yet does not run on and on.

    Claim: a service that interrupts what was cancelled does so after the bind: a runtime forgets there what it was
        asked before.
    Interleaving: an actor cancels at any moment from the submit on; the run hangs until it is interrupted.
    Expected: CANCELLED, and no call is in flight when everybody is at rest; the next task delivers its own output.
    """
    service = script.open_service()
    struck = script.task()
    script.arm("run-hang", task=struck)
    running = service.submit(struck)
    script.actor("canceller", running.cancel)
    script.rest()
    running.result()
    service.submit(script.task()).result()
    service.close()


@scenario(exercises=("expires-on-time", "terminal-once"), requires=("deadline",), tasks=2)
def expiry_races_the_bind(script: Script) -> None:
    """A run whose task expires when a worker has taken it and has not bound it yet does not run on and on.

    Claim: as of a cancel.
    Interleaving: the deadline is due at any moment from the submit on; the run hangs until it is interrupted.
    Expected: EXPIRED, and no call is in flight when everybody is at rest; the next task delivers its own output.
    """
    service = script.open_service()
    struck = script.task()
    script.arm("run-hang", task=struck)
    running = service.submit(struck, deadline=DUE_SECONDS)
    script.actor("waiter", running.result)
    script.rest(2 * DUE_SECONDS)
    service.submit(script.task()).result()
    script.join()
    service.close()


@scenario(
    exercises=("no-delivery-after-cancel", "release-after-drain"), requires=("running_cancel",), tasks=2, native="held"
)
def held_cancel_races_the_bind(script: Script) -> None:
    """A call that only an interrupt ends is ended, whenever its task is cancelled.

    Claim: a cancel before the run, at its bind or inside native code reaches the runtime, or the run does not begin.
    Interleaving: an actor cancels at any moment from the submit on; the call would run for minutes.
    Expected: CANCELLED; the session is closed after the call has returned, and that is soon.
    """
    service = script.open_service()
    running = service.submit(script.task())
    script.actor("canceller", running.cancel)
    running.result()
    script.join()
    service.close()
