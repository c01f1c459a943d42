"""A pipeline with a fixed number of buffers."""

from harness.scenario import ClientTask, Script, scenario

__all__ = ["pipeline_backs_up", "pipeline_hands_over"]

COUNT = 8


@scenario(exercises=("own-output", "terminal-once", "one-task-per-session", "owner-thread"), requires=("pipeline",))
def pipeline_hands_over(script: Script, clients: int = 4) -> None:
    """Tasks that are in different stages at once do not touch each other's buffers.

    Claim: a buffer has one owner, from the first stage to the outcome, and goes on from one stage to the next.
    Interleaving: four clients' tasks pass the stages as the strategy has it; each is submitted when there is a place.
    Expected: its own output for each accepted task, also when it is looked at again.
    """
    service = script.open_service(capacity=clients)
    tasks: list[ClientTask] = []
    for number in range(clients):
        task = script.task()
        script.actor(f"client-{number + 1}", lambda task=task: tasks.append(service.submit(task)))
    script.join()
    for task in tasks:
        task.result()
    for task in tasks:
        task.recheck()
    service.close()


@scenario(exercises=("capacity", "own-output", "terminal-once"), requires=("pipeline",), tasks=COUNT)
def pipeline_backs_up(script: Script, count: int = COUNT) -> None:
    """A stage that is stuck holds the source back: there are no more buffers than there were, and nothing is lost.

    Claim: who submits is told, by a refusal or by the end of an older task, and not by memory that runs out.
    Interleaving: the infer stage is held inside `invoke` while eight tasks come; then it goes on.
    Expected: at most two wait beside those that have a buffer; an outcome for each accepted task.
    """
    service = script.open_service(capacity=2)
    gate = script.hold("invoke", calls=1)
    tasks = [service.submit(script.task())]
    held = gate.wait()
    for _ in range(count - 1):
        tasks.append(service.submit(script.task()))
        script.rest()
    refused = sum(not task.accepted for task in tasks)
    gate.open()
    outcomes = [task.result().kind for task in tasks if task.accepted]
    if held:
        script.expect(
            refused + outcomes.count("REPLACED") >= count - 6, "capacity", "a stage that is stuck holds the source back"
        )
    script.expect(set(outcomes) <= {"SUCCEEDED", "REPLACED"}, "terminal-once", "what was accepted is not lost")
    service.close()
