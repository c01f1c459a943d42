"""A scenario of one's own.

racegate run --scenario docs/examples/cancel_then_retry.py:cancel_then_retry
"""

from harness.scenario import scenario


@scenario(exercises=("no-delivery-after-cancel", "own-output"), tasks=3)
def cancel_then_retry(script):
    """A client that cancels a waiting task and submits again gets the answer of its new task.

    Claim: nothing of the cancelled task reaches the retry.
    Interleaving: the worker is held inside `invoke`, so that the second task waits; its cancel and the retry race with
        the gate that opens.
    Expected: CANCELLED for the one, its own output for the other two.
    """
    service = script.open_service()
    gate = script.hold("invoke", calls=1)
    running = service.submit(script.task())
    gate.wait()
    waiting, retry = service.submit(script.task()), script.task()

    def change_of_mind():
        if waiting.cancel():
            service.submit(retry).result()

    script.actor("client", change_of_mind)
    gate.open()
    running.result()
    service.close()
