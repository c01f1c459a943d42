"""A gate in front of the queue that looks at the memory."""

from harness.scenario import Script, scenario

__all__ = ["memory_of_a_cancelled_run", "memory_pressure", "memory_sheds_the_queue"]

EXERCISES = ("capacity", "own-output", "terminal-once")


@scenario(exercises=EXERCISES, requires=("memory-gate",), tasks=3)
def memory_pressure(script: Script) -> None:
    """When the memory is nearly full nobody is admitted, although the queue has room, and later they are again.

    Claim: the refusal comes before the kernel has to act, says when to come back, and harms nobody who was admitted.
    Interleaving: a run is held inside `invoke` when the memory fills up; a request comes, the memory is freed, and
        another comes.
    Expected: a refusal with a hint for the one in between, its own output for the others.
    """
    memory = script.memory()
    service = script.open_service(capacity=4, memory=memory, most_live=4)
    gate = script.hold("invoke", calls=1)
    running = service.submit(script.task())
    gate.wait()
    memory.use(0.95)
    refused = service.submit(script.task())
    script.expect(not refused.accepted, "capacity", "nobody is admitted while the memory is nearly full")
    script.expect((refused.retry_after or 0) > 0, "capacity", "a refusal for want of memory says when to come back")
    memory.use(0.5)
    later = service.submit(script.task())
    script.expect(later.accepted, "capacity", "admission comes back with the memory")
    gate.open()
    running.result()
    later.result()
    service.close()


@scenario(exercises=EXERCISES, requires=("memory-gate",), tasks=5)
def memory_sheds_the_queue(script: Script) -> None:
    """As the memory fills up fewer requests are admitted, but not none: who admits nobody can free nothing either.

    Claim: above the lower watermark fewer than the most may be live at once, and each is answered.
    Interleaving: two thirds of the way from the lower watermark to the upper one are in use; four clients come at once
        while the workers are held inside `invoke`.
    Expected: at least one is admitted, and not all; its own output for each of those.
    """
    memory = script.memory()
    memory.use(0.85)
    service = script.open_service(capacity=4, memory=memory, most_live=4)
    gate = script.hold("invoke")
    tasks = [service.submit(script.task()) for _ in range(4)]
    admitted = sum(task.accepted for task in tasks)
    script.expect(0 < admitted < len(tasks), "capacity", "fewer are admitted as the memory fills up, but some are")
    gate.open()
    for task in tasks:
        task.result()
    service.close()


@scenario(exercises=(*EXERCISES, "buffer-until-return"), requires=("memory-gate", "running_cancel"), tasks=3)
def memory_of_a_cancelled_run(script: Script) -> None:
    """A run that was cancelled needs its memory until its native call has returned.

    Claim: nobody is admitted into memory that is still in use, and somebody is as soon as it is not.
    Interleaving: one request may be live; its run is held inside `invoke` when it is cancelled. Another request comes
        before the call has returned, and one after it.
    Expected: CANCELLED, a refusal, and its own output.
    """
    service = script.open_service(memory=script.memory(), most_live=1)
    gate = script.hold("invoke", calls=1)
    running = service.submit(script.task())
    held = gate.wait()
    cancelled = running.cancel()
    early = service.submit(script.task())
    if held and cancelled:
        script.expect(
            not early.accepted, "capacity", "the memory of a run is in use until its native call has returned"
        )
    gate.open()
    running.result()
    early.result()
    script.rest()
    late = service.submit(script.task())
    script.expect(late.accepted, "capacity", "the memory of a call that has returned is free")
    late.result()
    service.close()
