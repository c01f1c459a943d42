"""A caller writes into its result."""

from harness.scenario import Script, scenario

__all__ = ["result_written_to"]

JOINING = {"default": {"overflow": "coalesce"}}


@scenario(exercises=("output-owned", "own-output"), tasks=5)
def result_written_to(script: Script) -> None:
    """What a caller does to its result nobody else sees: neither who shares its run, nor the next task.

    Claim: no two callers have a result in memory that one of them can write to.
    Interleaving: the workers are held inside `invoke` while two equal requests come, which share a run where the
        service has that. The first of the two writes into its result as soon as it has it, and so do those that were
        alone; the other one may have its result before or after that.
    Expected: it is its own, and stays so, and so is that of the next task. A result that cannot be written to is as
        right.
    """
    service = script.open_service(capacity=3, classes=JOINING)
    gate = script.hold("invoke")
    alone = [service.submit(script.task()) for _ in range(service.workers)]
    gate.wait(service.workers)
    first, second = (service.submit(script.task(), key="equal") for _ in range(2))

    def write() -> None:
        for task in (*alone, first):
            task.result()
            task.overwrite_output()

    script.actor("writer", write)
    gate.open()
    second.result()
    script.join()
    second.recheck()
    last = service.submit(script.task())
    last.result()
    last.recheck()
    service.close()
