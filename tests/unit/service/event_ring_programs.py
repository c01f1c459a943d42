"""See `controlled_programs`: services with an event ring under the engine. Each returns `fine ...` or a breach."""

from controlled_programs import TICK
from service_programs import Lab, outcome, task, together

ENDS = {"FAILED": "failed", "CANCELLED": "cancelled", "EXPIRED": "expired"}


def stages_agree_with_outcomes():
    """Two slots run, fail, expire and are cancelled; what the ring says of each task is what became of it."""
    lab = Lab(events=64, slots=2)
    service = lab.make()
    futures, at_the_end = [], []

    def submit(value, seconds, deadline=None):
        future = service.submit(task(value, seconds), deadline=deadline)
        future.add_done_callback(lambda done: at_the_end.append((done, service.frozen())))
        futures.append(future)
        return future

    together(
        lambda: (submit(1, 0.010, 0.010 + TICK), submit(-2, 0.001)),
        lambda: submit(3, 0.010).cancel(),
    )
    service.close()
    events = service.recent()
    for future in futures:
        kind = outcome(future)
        kind = "FAILED" if kind == "RuntimeError" else kind
        mine = [event for event in events if event.task_id == future.task_id]
        kinds = [event.kind for event in mine]
        lab.check(kinds.count("accepted") == 1 and kinds[0] == "accepted", f"{kinds}: accepted once, first")
        lab.check(kinds.count("started") <= 1 and kinds.count("returned") <= 1, f"{kinds}: a stage twice")
        lab.check(("started" in kinds) >= ("returned" in kinds), f"{kinds}: returned, never started")
        ends = [each for each in kinds if each in ENDS.values()]
        lab.check(ends == ([ENDS[kind]] if kind in ENDS else []), f"{kinds}: the task is {kind}")
        lab.check(kind != "SUCCEEDED" or kinds == ["accepted", "started", "returned"], f"{kinds}: the task is {kind}")
    for done, incidents in at_the_end:
        if outcome(done) == "RuntimeError":
            own = [each.events[each.own].task_id for each in incidents if each.error == "RuntimeError"]
            lab.check(own == [done.task_id], "the outcome was there before its incident")
    counters = service.counters()
    lab.check((counters.live_tasks, counters.buffers) == (0, 0), "buffers are left")
    return lab.answer(*sorted({outcome(future) for future in futures}))


def freezing_beside_another_slot():
    """Two slots fail with one class at once: whichever is first has the incident, and the other's event is in it."""
    lab = Lab(events=64, slots=2)
    service = lab.make()
    futures = [service.submit(task(value)) for value in (-1, -2)]
    together(*(lambda future=future: outcome(future) for future in futures))
    service.close()
    (incident,) = service.frozen()
    failed = [event.task_id for event in incident.events if event.kind == "failed"]
    lab.check(sorted(failed) == ["n1", "n2"], f"{failed}")
    lab.check(incident.events[incident.own].task_id == incident.evidence.task_id, "the evidence is of another task")
    told = {(event.kind, event.slot) for event in incident.events if event.kind == "returned"}
    lab.check(told == {("returned", 0), ("returned", 1)} or len(told) == 1, f"{told}")
    return lab.answer(incident.evidence.task_id)
