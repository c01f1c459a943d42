"""A run returns from native code at the very moment when its task is given up, or its service is closed."""

from harness.scenario import Script, scenario

__all__ = ["held_cancel_races_return", "held_close_races_return", "held_expiry_races_return"]

HELD_SECONDS = 5.0
"""What the fault `native-slow` takes; that it is over may be chosen at any moment before."""
A_MOMENT = 0.001


@scenario(
    exercises=("buffer-until-return", "no-delivery-after-cancel", "terminal-once"),
    requires=("running_cancel",),
    tasks=1,
    native="held",
    arms=("native-slow",),
)
def held_cancel_races_return(script: Script) -> None:
    """A cancel that races with the return of a call from native code answers what the outcome then is.

    Claim: True and CANCELLED, with nothing reused before the return, or False and the task's own output.
    Interleaving: the run is inside native code; its return is chosen at any moment of the cancel, and before and after.
    Expected: answer and outcome agree. The return is first in a few executions of a hundred: too few for a premise.
    """
    service = script.open_service()
    script.arm("native-slow")
    task = service.submit(script.task())
    script.actor("canceller", task.cancel)
    task.result()
    script.join()
    service.close()


@scenario(
    exercises=("close-once", "no-deadlock", "owner-thread", "own-output", "release-after-drain", "terminal-once"),
    tasks=1,
    native="held",
    arms=("native-slow",),
)
def held_close_races_return(script: Script) -> None:
    """A close that races with the return of a call from native code misses it as little as it waits in vain.

    Claim: close returns once the call has, whichever of the two is first, and frees nothing under it.
    Interleaving: the run is inside native code; its return is chosen at any moment of the close, and before and after.
    Expected: its own output for the task; each session is closed once.
    """
    service = script.open_service()
    script.arm("native-slow")
    task = service.submit(script.task())
    script.actor("closer", service.close)
    task.result()
    script.join()


@scenario(
    exercises=("buffer-until-return", "expires-on-time", "own-output", "terminal-once"),
    requires=("deadline",),
    tasks=2,
    native="held",
    arms=("native-slow",),
)
def held_expiry_races_return(script: Script) -> None:
    """A deadline that is due as a call returns from native code gives one outcome, whichever is first.

    Claim: EXPIRED or the task's own output, and the session serves the next task all the same.
    Interleaving: the deadline is due a moment after the call returns: before its result is there, or later.
    Expected: one outcome for the task; its own output for the next.
    """
    service = script.open_service()
    script.arm("native-slow")
    task = service.submit(script.task(), deadline=HELD_SECONDS + A_MOMENT)
    script.actor("waiter", task.result)
    script.join()
    service.submit(script.task()).result()
    service.close()
