"""A switch that does not come to its end."""

from harness.scenario import Script, scenario

__all__ = ["switch_open_failure", "switch_races_close"]


@scenario(exercises=("one-version", "own-output", "terminal-once"), requires=("model_switch",), tasks=5)
def switch_open_failure(script: Script) -> None:
    """A new version that does not open leaves the old one in service, and nothing is lost.

    Claim: the switch says that it failed, every task accepted meanwhile runs on the old version, and so does the next.
    Interleaving: a task runs and another waits while an actor switches to a model that fails to open; another client
        submits.
    Expected: its own output for each, of the old version; the switch is refused.
    """
    service = script.open_service()
    answers: list[bool] = []
    tasks = [service.submit(script.task()) for _ in range(2)]
    during = script.task()
    script.arm("session-open-failure")
    script.actor("switcher", lambda: answers.append(service.switch("v2")))
    script.actor("client", lambda: tasks.append(service.submit(during)))
    script.join()
    script.expect(met=answers == [False], invariant="one-version", says="a switch whose model does not open says so")
    tasks.append(service.submit(script.task()))
    outcomes = {task.result().kind for task in tasks}
    script.expect(outcomes <= {"SUCCEEDED", "REFUSED"}, "terminal-once", "a switch that fails loses no task")
    service.close()


@scenario(exercises=("close-once", "terminal-once", "no-deadlock"), requires=("model_switch",), tasks=3)
def switch_races_close(script: Script) -> None:
    """A close during a switch ends both: every task has an outcome, and every session of either version is released.

    Claim: neither waits for the other for ever, and no session outlives the close.
    Interleaving: a task runs and another waits; one actor switches and another closes.
    Expected: an outcome for each; the switch was done or refused.
    """
    service = script.open_service()
    tasks = [service.submit(script.task()) for _ in range(2)]
    script.actor("switcher", lambda: service.switch("v2"))
    script.actor("closer", service.close)
    script.join()
    for task in tasks:
        task.result()
