"""The device fails under one session, and the others are looked at."""

from harness.scenario import Script, scenario

__all__ = [
    "device_reset_spares_the_idle",
    "device_reset_spares_the_next_model",
    "time_out_has_the_neighbours_checked",
]

TRIES = 4
BUDGET = 0.05


@scenario(exercises=("recovery-order", "own-output", "quarantine"), requires=("lifecycle",), tasks=1 + TRIES)
def device_reset_spares_the_idle(script: Script) -> None:
    """A device that is reset under one session costs the idle ones no task.

    Claim: a service that is told that its device failed looks at its other sessions before it runs on them again.
    Interleaving: one run finds the device reset; when its session has been replaced, more tasks follow.
    Expected: FAILED for the task that found out, its own output for every other.
    """
    service = script.open_service()
    script.arm("device-reset")
    first = service.submit(script.task()).result()
    script.rest()
    outcomes = [service.submit(script.task()).result().kind for _ in range(TRIES)]
    cost = outcomes.count("FAILED")
    script.expect(first.kind != "FAILED" or not cost, "recovery-order", "a reset of the device costs the idle no task")
    service.close()


@scenario(
    exercises=("recovery-order", "own-output", "one-version"), requires=("lifecycle", "model_switch"), tasks=4 + TRIES
)
def device_reset_spares_the_next_model(script: Script) -> None:
    """A device that is reset while a switch has a session ready that nobody runs on yet costs the new model no task.

    Claim: a session that waits for its first run was on the device, too: it is replaced before it has one.
    Interleaving: the workers are held inside `invoke` and a task waits for the old model while an actor switches; that
        task finds the device reset. More tasks follow when the switch is done and everybody has come to rest.
    Expected: FAILED for the task that found out, its own output for every other.
    """
    service = script.open_service()
    gate = script.hold("invoke", calls=service.workers)
    for _ in range(service.workers):
        service.submit(script.task())
    gate.wait(service.workers)
    finds_out = script.task()
    script.arm("device-reset", task=finds_out)
    first = service.submit(finds_out)
    script.actor("switcher", lambda: service.switch("v2"))
    script.rest()
    gate.open()
    script.join()
    script.rest()
    outcomes = [service.submit(script.task()).result().kind for _ in range(TRIES)]
    spared = first.result().kind != "FAILED" or not outcomes.count("FAILED")
    script.expect(spared, "recovery-order", "a reset of the device costs what was opened for a switch no task")
    service.close()


@scenario(
    exercises=("recovery-order", "own-output", "terminal-once"), requires=("lifecycle", "run-budget"), tasks=1 + TRIES
)
def time_out_has_the_neighbours_checked(script: Script, tries: int = TRIES) -> None:
    """Where a session of the device hung, the others are asked for before they run again.

    Claim: a session that the health check does not vouch for is replaced, and then the other sessions are asked for.
    Interleaving: a call hangs until it is interrupted, the health check says no once and then yes, and more tasks
        follow.
    Expected: FAILED for the task that hung; whoever runs in time delivers its own output.
    """
    answers = iter((False,))
    service = script.open_service(run_budget=BUDGET, health_check=lambda: next(answers, True))
    script.arm("run-hang")
    hung = service.submit(script.task())
    script.actor("waiter", hung.result)
    script.rest(10 * BUDGET)
    for _ in range(tries):
        service.submit(script.task()).result()
    script.join()
    service.close()
