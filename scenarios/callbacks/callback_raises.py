"""A callback that raises."""

from harness.scenario import Script, scenario

__all__ = ["callback_raises"]


class ClientError(Exception):
    """What a client's callback raises."""


def _raise() -> None:
    raise ClientError


@scenario(exercises=("callback-safe", "terminal-once", "own-output"), requires=("callbacks",), tasks=3)
def callback_raises(script: Script) -> None:
    """A callback that raises harms nobody but its client.

    Claim: the worker goes on with the next task, and the other callbacks of the same task are run.
    Interleaving: the callback is added while the task is held inside `invoke`; another task waits behind it, and a
        third comes later.
    Expected: every task delivers its own output.
    """
    service = script.open_service()
    gate = script.hold("invoke", calls=1)
    first = service.submit(script.task())
    gate.wait()
    first.on_done(_raise)
    first.on_done(_nothing)
    waiting = service.submit(script.task())
    gate.open()
    first.result()
    waiting.result()
    service.submit(script.task()).result()
    service.close()


def _nothing() -> None:
    """A callback that does nothing."""
