"""Runs that nobody waits for any more."""

from harness.scenario import ClientTask, Script, scenario

__all__ = ["abandoned_runs"]


@scenario(
    exercises=("expires-on-time", "buffer-until-return", "terminal-once"), requires=("unhealthy", "deadline"), tasks=5
)
def abandoned_runs(script: Script) -> None:
    """Runs that nobody waits for any more stop admission when they pile up, and admission comes back by itself.

    Claim: a service whose sessions do not come back says that it is unhealthy instead of taking more tasks; once they
        are back and sound it takes tasks again.
    Interleaving: every worker is held inside `invoke` until its task has EXPIRED; a task is submitted then, and
        another one when the calls have returned.
    Expected: refused as unhealthy, then accepted and answered.
    """
    service = script.open_service(abandoned_limit=script.workers)
    gate = script.hold("invoke", calls=script.workers)
    running: list[ClientTask] = []
    held = True
    for worker in range(service.workers):
        running.append(service.submit(script.task(), deadline=0.05))
        held &= gate.wait(worker + 1)
    for number, task in enumerate(running, start=1):
        script.actor(f"waiter-{number}", task.result)
    script.rest(0.5)
    refused = service.submit(script.task())
    if held:
        script.expect(not refused.accepted, "capacity", "too many abandoned runs stop admission")
        script.expect(service.health == "unhealthy", "capacity", "the service says that it is unhealthy")
    gate.open()
    script.rest(0.5)
    again = service.submit(script.task())
    script.expect(again.accepted, "capacity", "a service whose sessions came back takes tasks again")
    script.join()
    for task in (refused, again):
        task.result()
    service.close()
