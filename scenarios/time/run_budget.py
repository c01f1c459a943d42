"""A run that takes too long."""

from harness.scenario import Script, scenario

__all__ = ["run_budget"]


@scenario(
    exercises=("expires-on-time", "buffer-until-return", "terminal-once", "own-output"),
    requires=("run-budget",),
    tasks=2,
)
def run_budget(script: Script) -> None:
    """A watchdog fails the task of a run that takes too long; the session stays taken until the call has returned.

    Claim: the task ends when the budget is over, and nothing is reused under the call.
    Interleaving: the call is held inside `invoke` for half a second, ten times as long as the budget, while another
        task waits.
    Expected: FAILED while the call is in flight; the task that follows delivers its own output.
    """
    service = script.open_service(run_budget=0.05)
    gate = script.hold("invoke", calls=1)
    running = service.submit(script.task())
    script.actor("waiter", running.result)
    held = gate.wait()
    script.rest(0.5)
    if held:
        outcome = running.result(timeout=0.01).kind
        script.expect(outcome == "FAILED", "expires-on-time", "a run that is over its budget fails its task")
    following = service.submit(script.task())
    gate.open()
    script.join()
    following.result()
    running.result()
    service.close()
