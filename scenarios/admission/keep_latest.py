"""A queue of one place for the latest."""

from harness.scenario import ClientTask, Script, scenario

__all__ = ["camera_frames", "keep_latest"]

FRAMES = 3
LATEST = {"default": {"overflow": "keep-latest"}}


@scenario(exercises=("capacity", "terminal-once", "own-output"), requires=("overflow:keep-latest",), tasks=FRAMES + 2)
def keep_latest(script: Script) -> None:
    """Of the frames that come while the workers are busy, the last one is run and every other is told so.

    Claim: at most one task waits; each newer one replaces it, whatever the capacity would allow.
    Interleaving: the workers are held inside `invoke` while three more frames come.
    Expected: REPLACED for all frames that waited but the last, its own output for that and for those that ran.
    """
    service = script.open_service(capacity=FRAMES, classes=LATEST)
    gate = script.hold("invoke")
    running: list[ClientTask] = []
    held = True
    for worker in range(service.workers):
        running.append(service.submit(script.task()))
        held &= gate.wait(worker + 1)
    frames = [service.submit(script.task()) for _ in range(FRAMES)]
    if held:
        replaced = [frame.result().kind for frame in frames[:-1]]
        script.expect(set(replaced) == {"REPLACED"}, "capacity", "each newer frame replaces the one that waits")
    gate.open()
    for task in (*running, frames[-1]):
        task.result()
    service.close()


@scenario(exercises=("terminal-once", "own-output"), requires=("overflow:keep-latest",), tasks=2 * FRAMES)
def camera_frames(script: Script, each: int = FRAMES) -> None:
    """Two cameras send frames as they come; every frame is answered, by its own output or by REPLACED.

    Claim: a frame is replaced before a worker takes it or not at all, and nobody waits for one in vain.
    Interleaving: both producers are actors; when a worker takes a frame is left to the strategy.
    Expected: each frame ends once, the last of all with its own output.
    """
    service = script.open_service(capacity=each, classes=LATEST)
    inputs = [[script.task() for _ in range(each)] for _ in range(2)]
    frames: list[ClientTask] = []
    for number, camera in enumerate(inputs, start=1):
        script.actor(f"camera-{number}", lambda camera=camera: frames.extend(service.submit(frame) for frame in camera))
    script.join()
    for frame in frames:
        frame.result()
    service.close()
