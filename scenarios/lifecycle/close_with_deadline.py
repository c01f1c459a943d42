"""Close with a limit to its patience."""

from harness.scenario import Script, scenario

__all__ = ["close_with_deadline"]


@scenario(
    exercises=("close-once", "release-after-drain", "terminal-once"), requires=("close-deadline", "drain"), tasks=4
)
def close_with_deadline(script: Script) -> None:
    """A draining close whose deadline is over drops what still waits, and waits for the call in flight all the same.

    Claim: drain ends when its time is over; nothing is released under a native call, however long that takes.
    Interleaving: the workers are held inside `invoke` with a task waiting behind them; an actor closes with a deadline
        of 50 ms, and half a second goes by before they are let go.
    Expected: CANCELLED for the task that waits, while the calls are in flight; close returns after them.
    """
    service = script.open_service()
    gate = script.hold("invoke")
    running = [service.submit(script.task()) for _ in range(service.workers)]
    held = gate.wait(service.workers)
    waiting = service.submit(script.task())
    script.actor("closer", lambda: service.close(drain=True, deadline=0.05))
    script.rest(0.5)
    if held:
        outcome = waiting.result(timeout=0.01).kind
        script.expect(outcome in {"CANCELLED", "REFUSED"}, "terminal-once", "a drain ends when its time is over")
    gate.open()
    script.join()
    for task in (*running, waiting):
        task.result()
