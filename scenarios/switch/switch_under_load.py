"""Another version of the model while requests come."""

from harness.scenario import ClientTask, Script, scenario

__all__ = ["switch_cancels_what_waits", "switch_under_load", "two_switches"]

EXERCISES = ("one-version", "own-output", "terminal-once")


@scenario(exercises=EXERCISES, requires=("model_switch",), tasks=6)
def switch_under_load(script: Script) -> None:
    """New requests get the new version, old ones finish on theirs, and every result is of one of them.

    Claim: what was accepted before the switch began runs on the old version, what is submitted after it returned on the
        new one; each future names the version of the session that ran it.
    Interleaving: the workers are held inside `invoke` and a task waits while an actor switches and another submits;
        the gate opens. One more task comes when both are done.
    Expected: its own output for every accepted task, of the version that was current.
    """
    service = script.open_service()
    gate = script.hold("invoke", calls=service.workers)
    tasks = [service.submit(script.task()) for _ in range(service.workers)]
    gate.wait(service.workers)
    tasks.append(service.submit(script.task()))
    during = script.task()
    script.actor("switcher", lambda: service.switch("v2"))
    script.actor("client", lambda: tasks.append(service.submit(during)))
    gate.open()
    script.join()
    tasks.append(service.submit(script.task()))
    for task in tasks:
        task.result()
    service.close()


@scenario(exercises=(*EXERCISES, "no-delivery-after-cancel"), requires=("model_switch",), tasks=6)
def switch_cancels_what_waits(script: Script) -> None:
    """Old requests that wait are cancelled where the switch says so; what runs is delivered.

    Claim: a task that waits for the old version is CANCELLED or has its result, and its waiters wake; no result of the
        old version comes for a request made after the switch.
    Interleaving: the workers are held inside `invoke` and another task waits, and its client races with the switch.
    Expected: CANCELLED or its own output for the task that waits, its own output for the rest.
    """
    service = script.open_service()
    gate = script.hold("invoke", calls=service.workers)
    tasks: list[ClientTask] = [service.submit(script.task()) for _ in range(service.workers)]
    gate.wait(service.workers)
    waiting = service.submit(script.task())
    script.actor("switcher", lambda: service.switch("v2", pending="cancel"))
    script.actor("canceller", waiting.cancel)
    gate.open()
    waiting.result()
    script.join()
    tasks.append(service.submit(script.task()))
    for task in tasks:
        task.result()
    service.close()


@scenario(exercises=EXERCISES, requires=("model_switch",), tasks=4)
def two_switches(script: Script) -> None:
    """Two switches at once follow one another, and the last one wins.

    Claim: each call's answer is true: when it returned the version was the current one.
    Interleaving: two actors switch to two versions while a task runs; a third submits.
    Expected: its own output for each task; the last one's of a version whose switch was not over before the other's
        began.
    """
    service = script.open_service()
    tasks = [service.submit(script.task())]
    during = script.task()
    script.actor("switcher-2", lambda: service.switch("v2"))
    script.actor("switcher-3", lambda: service.switch("v3"))
    script.actor("client", lambda: tasks.append(service.submit(during)))
    script.join()
    tasks.append(service.submit(script.task()))
    for task in tasks:
        task.result()
    service.close()
