"""Results that are applied only while they are of interest."""

from harness.scenario import ClientTask, Script, scenario

__all__ = ["fresh_frames", "search_box", "stale_model"]

FRAMES = 4
NEEDS = ("freshness", "callbacks")


@scenario(exercises=("fresh-only", "own-output"), requires=NEEDS, tasks=FRAMES)
def fresh_frames(script: Script, count: int = FRAMES) -> None:
    """The picture never goes back: a frame that is done late is not shown after a newer one.

    Claim: results are applied in the order of their frames, whoever finishes first.
    Interleaving: the frames are submitted one after the other and run on as many workers as there are; when a worker
        gives its result is left to the strategy.
    Expected: each applied frame is newer than the one before.
    """
    service = script.open_service(capacity=count)
    screen = script.subscriber()
    frames: list[ClientTask] = []
    for number in range(1, count + 1):
        frame = service.submit(script.task(), context=number)
        screen.follow(frame, number)
        frames.append(frame)
    for frame in frames:
        frame.result()
    service.close()


@scenario(exercises=("fresh-only", "own-output"), requires=NEEDS, tasks=3)
def search_box(script: Script, keystrokes: int = 3) -> None:
    """What answers an older text is not shown once the user has typed on.

    Claim: when `expect` has returned, no result of an older context is applied.
    Interleaving: the answers race with the keystrokes of the user, who waits for none of them.
    Expected: only what is at least as new as the last keystroke is applied after it.
    """
    service = script.open_service(capacity=keystrokes)
    box = script.subscriber()
    tasks: list[ClientTask] = []
    for number in range(1, keystrokes + 1):
        box.expect(number)
        task = service.submit(script.task(), context=number)
        box.follow(task, number)
        tasks.append(task)
    for task in tasks:
        task.result()
    service.close()


@scenario(exercises=("fresh-only", "one-version"), requires=(*NEEDS, "model_switch"), tasks=4)
def stale_model(script: Script, before: int = 2) -> None:
    """A result of the old model is not applied when the new one has become current.

    Claim: when `switched_to` has returned, no result of the old version is applied, though its task finishes.
    Interleaving: a task runs and another waits while an actor tells the subscriber of the new version and then
        switches; the first task of the new version follows.
    Expected: old results are applied before that or not at all.
    """
    service = script.open_service()
    screen = script.subscriber()
    tasks: list[ClientTask] = []
    for number in range(1, before + 1):
        task = service.submit(script.task(), context=number)
        screen.follow(task, number)
        tasks.append(task)
    screen.switched_to("v2")
    service.switch("v2")
    last = service.submit(script.task(), context=before + 1)
    screen.follow(last, before + 1)
    for task in (*tasks, last):
        task.result()
    service.close()
