"""A run takes too long, and its service recovers."""

from harness.scenario import Script, scenario

__all__ = ["watchdog_ends_a_hang", "watchdog_waits_for_the_device"]

BUDGET = 0.05
FOLLOWING = 2


@scenario(
    exercises=("recovery-order", "own-output", "terminal-once"),
    requires=("lifecycle", "run-budget"),
    tasks=2 + FOLLOWING,
)
def watchdog_waits_for_the_device(script: Script, following: int = FOLLOWING) -> None:
    """A watchdog tells the client at once, waits for the device, and then starts from a fresh session.

    Claim: while the call is in flight nothing is reused; when it has returned its session is replaced before anybody
        gets it, and its outputs go nowhere.
    Interleaving: a call stays in `invoke` ten times as long as the run budget; its client submits a retry, and then the
        device comes back; more tasks follow.
    Expected: FAILED while the call is in flight; every other task delivers its own output, on sessions that are sound.
    """
    service = script.open_service(run_budget=BUDGET)
    gate = script.hold("invoke", calls=1)
    hung = service.submit(script.task())
    script.actor("waiter", hung.result)
    gate.wait()
    script.rest(10 * BUDGET)
    retry = service.submit(script.task(), retry_of=hung)
    script.rest()
    gate.open()
    retry.result()
    for _ in range(following):
        service.submit(script.task()).result()
    script.join()
    service.close()


@scenario(
    exercises=("recovery-order", "own-output", "terminal-once"),
    requires=("lifecycle", "run-budget"),
    tasks=1 + FOLLOWING,
)
def watchdog_ends_a_hang(script: Script, behind: int = FOLLOWING) -> None:
    """A watchdog has the runtime end a call that hangs, and goes on with a fresh session.

    Claim: the runtime is asked before the client is told, and it is asked to end this call and no other.
    Interleaving: a call hangs until its session is interrupted; two tasks wait behind it.
    Expected: FAILED for the task that hangs; whoever runs in time is not interrupted and delivers its own output.
    """
    service = script.open_service(run_budget=BUDGET)
    script.arm("run-hang")
    hung = service.submit(script.task())
    script.actor("waiter", hung.result)
    following = [service.submit(script.task()) for _ in range(behind)]
    script.rest(10 * BUDGET)
    for task in following:
        task.result()
    script.join()
    service.close()
