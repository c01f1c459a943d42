"""Close from a callback."""

from harness.scenario import Script, scenario

__all__ = ["close_from_a_callback"]


@scenario(exercises=("callback-safe", "close-once", "terminal-once", "no-deadlock"), requires=("callbacks",), tasks=3)
def close_from_a_callback(script: Script) -> None:
    """A callback may close the service that runs it.

    Claim: on the service's own thread closing is asked for and does not wait for that thread; everything accepted
        ends all the same.
    Interleaving: the first task's callback closes while another task waits; the script closes, too.
    Expected: both closes return, each session is closed once, each task ends.
    """
    service = script.open_service()
    gate = script.hold("invoke", calls=1)
    first = service.submit(script.task())
    gate.wait()
    first.on_done(service.close)
    waiting = service.submit(script.task())
    gate.open()
    first.result()
    waiting.result()
    service.close()
