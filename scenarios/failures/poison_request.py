"""One task fails whenever it is run."""

from harness.scenario import Script, scenario

__all__ = ["poison_request"]


@scenario(exercises=("fault-contained", "own-output", "terminal-once"), tasks=3)
def poison_request(script: Script) -> None:
    """A task whose runs always fail does not clog the queue.

    Claim: it fails, however often the service tries it again, and those behind it get their turn.
    Interleaving: the poison runs first, two tasks wait behind it.
    Expected: FAILED for the poison, its own output for every other task.
    """
    service = script.open_service()
    poison = script.task()
    script.arm("poison-request", task=poison)
    gate = script.hold("invoke", calls=1)
    first = service.submit(poison)
    gate.wait()
    others = [service.submit(script.task()) for _ in range(2)]
    gate.open()
    for task in others:
        task.result()
    first.result()
    service.close()
