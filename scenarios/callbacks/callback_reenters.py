"""A callback that uses the service."""

from harness.scenario import ClientTask, Script, scenario

__all__ = ["callback_reenters"]


@scenario(exercises=("callback-safe", "terminal-once", "own-output", "no-deadlock"), requires=("callbacks",), tasks=3)
def callback_reenters(script: Script) -> None:
    """A callback may submit the next task and cancel another.

    Claim: the service can be used from its own callbacks, as a chain of steps does.
    Interleaving: the callback of a running task submits the next one and cancels the one that waits.
    Expected: the first and the next deliver their own outputs; for the one that waits answer and outcome agree.
    """
    service = script.open_service()
    gate = script.hold("invoke", calls=1)
    first = service.submit(script.task())
    gate.wait()
    waiting, task = service.submit(script.task()), script.task()
    chained: list[ClientTask] = []

    def next_step() -> None:
        chained.append(service.submit(task))
        waiting.cancel()

    first.on_done(next_step)
    gate.open()
    first.result()
    waiting.result()
    service.close()
    for each in chained:
        each.result()
