"""A deadline at the moment of something else."""

from harness.scenario import Script, scenario

__all__ = ["expiry_races_cancel", "expiry_races_completion"]

RUN_SECONDS = 5.0
"""What the fault `slow-run` takes."""


@scenario(exercises=("terminal-once", "own-output"), requires=("deadline",), tasks=3)
def expiry_races_completion(script: Script) -> None:
    """A deadline that is due when the run ends gives one outcome, whichever comes first.

    Claim: EXPIRED or the task's own output, never one after the other, and the waiter wakes.
    Interleaving: the run takes five virtual seconds, exactly as long as the deadline; what is first is left to the
        strategy. A neighbour without a deadline waits behind it.
    Expected: one outcome for the task; its own output for the neighbour.
    """
    service = script.open_service()
    script.arm("slow-run")
    task = service.submit(script.task(), deadline=RUN_SECONDS)
    neighbour = service.submit(script.task())
    script.actor("waiter", task.result)
    neighbour.result()
    script.join()
    task.result()
    service.close()


@scenario(exercises=("no-delivery-after-cancel", "terminal-once"), requires=("deadline",), tasks=4)
def expiry_races_cancel(script: Script) -> None:
    """A cancel at the moment of the deadline answers what the outcome then is.

    Claim: True and CANCELLED, or False and EXPIRED: never one with the other.
    Interleaving: a task waits behind a held worker with a deadline of 50 ms; an actor cancels it 50 ms after it was
        submitted.
    Expected: answer and outcome agree; every other task delivers its own output.
    """
    service = script.open_service(capacity=2)
    gate = script.hold("invoke")
    running = [service.submit(script.task()) for _ in range(service.workers)]
    gate.wait(service.workers)
    queued = service.submit(script.task(), deadline=0.05)

    def change_of_mind() -> None:
        script.sleep(0.05)
        queued.cancel()

    script.actor("canceller", change_of_mind)
    queued.result()
    script.join()
    gate.open()
    for task in running:
        task.result()
    service.close()
