"""A client that tries again."""

from harness.scenario import Script, scenario

__all__ = ["retry_is_a_new_task"]


@scenario(exercises=("timeout-is-a-wait", "terminal-once", "own-output"), requires=("retry-link",), tasks=3)
def retry_is_a_new_task(script: Script) -> None:
    """A retry is a task of its own with a link to the first, and both end.

    Claim: the first task is not forgotten, not restarted and not mistaken for its retry.
    Interleaving: the task is held inside `invoke` while its client's wait times out; the client retries and cancels
        the first one, and the gate opens.
    Expected: the retry delivers its own output, with a future of its own that knows the first.
    """
    service = script.open_service()
    gate = script.hold("invoke", calls=1)
    first = service.submit(script.task())
    gate.wait()
    first.result(timeout=0.05)
    retry = service.submit(script.task(), retry_of=first)
    script.actor("canceller", first.cancel)
    gate.open()
    retry.result()
    script.join()
    first.result()
    service.close()
