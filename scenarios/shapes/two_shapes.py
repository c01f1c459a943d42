"""Shapes that change from task to task."""

from harness.scenario import ClientTask, Script, scenario

__all__ = ["resize_races_a_run", "shape_out_of_range", "two_shapes_alternating", "unseen_shape"]

NEEDS = ("shapes", "dynamic-shapes")
EXERCISES = ("own-output", "owner-thread", "terminal-once")
LARGE, UNSEEN = 1, 2


@scenario(exercises=(*EXERCISES, "one-task-per-session"), requires=NEEDS, tasks=3)
def two_shapes_alternating(script: Script, pairs: int = 3) -> None:
    """Tasks of two shapes in turn each get an output of their own shape, and their own output.

    Claim: nothing of the shape before is left in a buffer, whichever slot runs what.
    Interleaving: small and large tasks wait in turn behind a run that is held inside `invoke`; the gate opens.
    Expected: its own output for each.
    """
    service = script.open_service(capacity=2 * pairs - 1, shapes=True)
    gate = script.hold("invoke", calls=1)
    tasks: list[ClientTask] = []
    for _ in range(pairs):
        tasks.append(service.submit(script.task()))
        tasks.append(service.submit(script.task(shape=LARGE)))
    gate.open()
    for task in tasks:
        task.result()
    for task in tasks:
        task.recheck()
    service.close()


@scenario(exercises=EXERCISES, requires=NEEDS, tasks=2)
def resize_races_a_run(script: Script) -> None:
    """A task of another shape that comes while a run is on changes nothing under it.

    Claim: a session is resized by the thread that owns it, and between two tasks.
    Interleaving: a run is held inside `invoke` while another client submits a task of another shape; then the gate
        opens, and the run's end races with whatever the service does for that task.
    Expected: its own output for each.
    """
    service = script.open_service(shapes=True)
    gate = script.hold("invoke", calls=1)
    running = service.submit(script.task())
    gate.wait()
    other = script.task(shape=LARGE)
    script.actor("client", lambda: service.submit(other).result())
    gate.open()
    running.result()
    script.join()
    service.close()


@scenario(exercises=EXERCISES, requires=NEEDS, tasks=4)
def unseen_shape(script: Script) -> None:
    """A shape that nobody has planned for is planned by the slot that runs it, and the others wait no longer for it.

    Claim: those that wait behind it get their own outputs, of the shapes that were planned ahead.
    Interleaving: the workers are held inside `bind`, where the unseen shape is planned for; one of them has it, and
        tasks of the other shapes wait behind; the gate opens.
    Expected: its own output for each.
    """
    service = script.open_service(capacity=3, shapes=True)
    gate = script.hold("bind", calls=service.workers)
    tasks = [service.submit(script.task(shape=UNSEEN))]
    tasks += [service.submit(script.task()) for _ in range(service.workers - 1)]
    gate.wait(service.workers)
    tasks += [service.submit(script.task(shape=LARGE)), service.submit(script.task())]
    gate.open()
    for task in tasks:
        task.result()
    service.close()


@scenario(exercises=("contract-first", "own-output", "terminal-once"), requires=NEEDS, tasks=3)
def shape_out_of_range(script: Script) -> None:
    """A shape that is larger than any that is served is refused at once: the runtime would have taken it.

    Claim: the refusal comes from `submit`, also when others wait, and harms nobody.
    Interleaving: a run is held inside `invoke`; a task of a shape that is not served comes, and one that is.
    Expected: a refusal for the one, its own output for the others.
    """
    service = script.open_service(shapes=True)
    gate = script.hold("invoke", calls=1)
    running = service.submit(script.task())
    gate.wait()
    oversized = service.submit(script.task(oversized=True))
    script.expect(not oversized.accepted, "contract-first", "a shape that is not served is refused by submit")
    following = service.submit(script.task(shape=LARGE))
    gate.open()
    running.result()
    following.result()
    service.close()
