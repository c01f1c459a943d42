import dataclasses
import functools
import threading

import numpy as np
import pytest
from service_fakes import GUARD, inside, task, value_of

from adapters.base import RunError
from harness.service.config import ServiceConfig
from harness.service.errors import DeadlineExpiredError, RunBudgetError
from harness.service.event_ring import EventRing, Evidence
from harness.service.requests import OverflowPolicy, RequestClass

SIZE = 32
EVIDENCE = Evidence(
    task_id="n1", request_class="default", at=0.0, accepted_at=None, started_at=None, due=None, waits_for=None,
    buffers_held_by="nobody", queue_depth=0, busy=(),
)  # fmt: skip


@pytest.fixture
def make(pools):
    return functools.partial(pools, events=SIZE)


def stages(events, future):
    return [event.kind for event in events if event.task_id == future.task_id]


def test_a_tasks_stages_share_its_id_and_are_in_order(make):
    pool = make()
    futures = [pool.submit(task(number)) for number in (1, 2, 3)]
    for future in futures:
        future.result(GUARD)
    pool.close()
    for future in futures:
        assert stages(pool.recent(), future) == ["accepted", "started", "returned"]
    events = pool.recent()
    assert [event.at for event in events] == sorted(event.at for event in events)
    assert [(event.kind, event.detail) for event in events if event.task_id is None] == [
        ("slot", "opening"),
        ("slot", "ready"),
        ("state", "accepting"),
        ("closing", "shutdown"),
        ("state", "draining"),
        ("slot", "closed"),
        ("state", "closed"),
    ]


def test_tasks_under_way_are_among_the_events(runtime, make):
    pool = make()
    running = inside(runtime, pool)
    waiting = pool.submit(task(1))
    assert stages(pool.recent(), running) == ["accepted", "started"]
    assert stages(pool.recent(), waiting) == ["accepted"]


def test_how_a_task_ended_follows_its_stages(runtime, make):
    frames = RequestClass(name="frames", overflow=OverflowPolicy.KEEP_LATEST)
    pool = make(classes=(frames,))
    running = inside(runtime, pool)
    cancelled = pool.submit(task(1))
    replaced = pool.submit(task(2), request_class="frames")
    last = pool.submit(task(3), request_class="frames")
    assert cancelled.cancel()
    assert running.cancel()
    runtime.let_go(0)
    last.result(GUARD)
    events = pool.recent()
    assert stages(events, running) == ["accepted", "started", "cancelled", "returned", "late"]
    assert stages(events, cancelled) == ["accepted", "cancelled"]
    assert stages(events, replaced) == ["accepted", "replaced"]
    assert {(event.task_id, event.detail) for event in events if event.kind == "cancelled"} == {
        (running.task_id, "running"),
        (cancelled.task_id, "queued"),
    }
    assert pool.frozen() == (), "none of this is an error"


def test_an_error_that_nobody_waits_for_is_dropped_and_freezes_nothing(runtime, make):
    runtime.run_errors[0.0] = RunError("x")
    pool = make()
    running = inside(runtime, pool)
    assert running.cancel()
    runtime.let_go(0)
    pool.submit(task(1)).result(GUARD)
    assert stages(pool.recent(), running) == ["accepted", "started", "cancelled", "returned", "dropped"]
    assert (pool.frozen(), pool.counters().last_error) == ((), None)


def test_every_caller_of_a_shared_run_is_written(runtime, make):
    shared = RequestClass(name="shared", overflow=OverflowPolicy.COALESCE)
    pool = make(classes=(shared,))
    inside(runtime, pool)
    callers = [pool.submit(task(1), request_class="shared", key="k") for _ in range(2)]
    runtime.let_go(0)
    for future in callers:
        future.result(GUARD)
        assert stages(pool.recent(), future) == ["accepted", "started", "returned"]


def test_the_ring_holds_no_more_than_it_was_given(make):
    pool = make(events=8)
    for number in range(40):
        pool.submit(task(number)).result(GUARD)
    assert {event.task_id for event in pool.recent()} == {f"n{number}" for number in range(33, 41)}


# -- incidents ---------------------------------------------------------------------------------------------------------


def test_an_error_freezes_what_was_around_it(runtime, make):
    runtime.run_errors[2.0] = RunError("x")
    pool = make()
    before, broken = pool.submit(task(1)), pool.submit(task(2))
    assert isinstance(broken.exception(GUARD), RunError)
    (incident,) = pool.frozen()  # it is there when the outcome is
    assert (incident.error, incident.complete) == ("RunError", False)
    own = incident.events[incident.own]
    assert (own.kind, own.task_id, own.slot, own.detail) == ("failed", broken.task_id, 0, "RunError")
    assert stages(incident.events, before) == ["accepted", "started", "returned"]
    later = [pool.submit(task(number)) for number in (3, 4)]
    for future in later:
        future.result(GUARD)
    (incident,) = pool.frozen()
    assert stages(incident.events[incident.own :], later[0]) == ["accepted", "started", "returned"]
    for number in range(2 * SIZE):
        pool.submit(task(number + 10)).result(GUARD)
    (incident,) = pool.frozen()
    assert incident.complete
    assert stages(incident.events, before) == ["accepted", "started", "returned"], "the ring has moved on, this has not"
    assert incident.events[-1].task_id != pool.recent()[-1].task_id


def test_a_run_under_way_is_in_the_incident_of_another(runtime, make):
    runtime.run_errors[2.0] = RunError("x")
    pool = make(slots=2)
    slow = inside(runtime, pool)
    pool.submit(task(2)).exception(GUARD)
    (incident,) = pool.frozen()
    assert stages(incident.events, slow) == ["accepted", "started"]
    assert {use.task_id for use in incident.evidence.busy} == {"n1", "n2"}


def test_a_task_that_expires_in_the_queue_says_what_it_waited_for(runtime, make):
    pool = make()
    running = inside(runtime, pool)
    behind, late = pool.submit(task(1)), pool.submit(task(2), deadline=0.01)
    assert isinstance(late.exception(GUARD), DeadlineExpiredError)
    (incident,) = pool.frozen()
    evidence = incident.evidence
    assert (evidence.task_id, evidence.waits_for, evidence.buffers_held_by) == (late.task_id, "a slot", "queue")
    assert (evidence.queue_depth, evidence.started_at, evidence.due) == (2, None, late.due)
    assert evidence.at >= late.due > evidence.accepted_at
    assert [(use.slot, use.task_id) for use in evidence.busy] == [(0, running.task_id)]
    assert evidence.busy[0].since <= behind.accepted_at


def test_a_task_that_expires_in_native_code_says_who_has_its_buffers(runtime, make):
    pool = make()
    late = inside(runtime, pool, deadline=0.05)
    assert isinstance(late.exception(GUARD), DeadlineExpiredError)
    evidence = pool.frozen()[0].evidence
    assert (evidence.waits_for, evidence.buffers_held_by, evidence.queue_depth) == ("slot 0", "slot 0", 0)
    assert evidence.accepted_at <= evidence.started_at <= evidence.due <= evidence.at


def test_a_run_over_its_budget_is_an_incident(runtime, make):
    pool = make(run_budget=0.02)
    late = inside(runtime, pool)
    assert isinstance(late.exception(GUARD), RunBudgetError)
    (incident,) = pool.frozen()
    assert (incident.error, incident.evidence.waits_for) == ("RunBudgetError", "slot 0")
    assert incident.events[incident.own].kind == "ended"


def test_a_wait_that_times_out_is_an_incident_and_a_look_is_none(runtime, make):
    pool = make()
    future = inside(runtime, pool)
    with pytest.raises(TimeoutError):
        future.result(0)
    assert pool.frozen() == ()
    with pytest.raises(TimeoutError):
        future.result(0.01)
    (incident,) = pool.frozen()
    assert (incident.error, incident.events[incident.own].kind) == ("TimeoutError", "wait-ended")
    assert incident.evidence.waits_for == "slot 0"
    assert pool.counters().last_error is None, "the task goes on"
    runtime.let_go(0)
    assert value_of(future.result(GUARD)) == 0.0


def test_a_task_that_failed_with_a_time_out_of_its_own_is_no_wait_that_ended(runtime, make):
    runtime.run_errors[1.0] = TimeoutError("x")
    pool = make()
    with pytest.raises(TimeoutError):
        pool.submit(task(1)).result(GUARD)
    assert [event.kind for event in pool.recent() if event.detail == "TimeoutError"] == ["failed"]


def test_an_outcome_keeps_no_future_alive(runtime, make):
    """An error holds the frame that raised it; were the future in there, the two would hold each other."""
    runtime.run_errors[1.0] = RunError("x")
    future = make().submit(task(1))
    error = None
    try:
        future.result(GUARD)
    except RunError as raised:
        error = raised
    frames, step = [], error.__traceback__
    while step is not None:
        frames.append(step.tb_frame)
        step = step.tb_next
    assert len(frames) > 1
    assert all(future not in frame.f_locals.values() for frame in frames[1:])


def test_evidence_of_a_task_at_any_time(runtime, make):
    pool = make()
    future = inside(runtime, pool)
    assert pool.evidence(future).waits_for == "slot 0"
    runtime.let_go(0)
    future.result(GUARD)
    pool.close()
    after = pool.evidence(future)
    assert (after.waits_for, after.buffers_held_by, after.busy) == (None, "nobody", ())


# -- the ring by itself ------------------------------------------------------------------------------------------------


def raw(at, kind="slot", number=None):
    return (float(at), kind, number, None, None)


def freeze(ring, at, error):
    ring.freeze(raw(at, "failed", 1), error, EVIDENCE, [])


def times(incident):
    return [event.at for event in incident.events]


def test_one_class_is_one_incident_while_it_is_written_and_the_latest_is_kept():
    ring = EventRing(8)
    freeze(ring, 1, "A")
    freeze(ring, 2, "A")
    ring.put_locked(raw(3))
    (incident,) = ring.frozen()
    assert (times(incident), incident.own, incident.complete) == ([1, 2, 3], 0, True)
    ring.put_locked(raw(4))
    freeze(ring, 5, "A")
    (incident,) = ring.frozen()
    assert (times(incident), incident.own, incident.complete) == ([1, 2, 3, 4, 5], 4, False)


def test_another_class_ends_the_incident_before():
    ring = EventRing(8)
    freeze(ring, 1, "A")
    freeze(ring, 2, "B")
    ring.put_locked(raw(3))
    first, second = ring.frozen()
    assert (first.error, times(first), first.complete) == ("A", [1, 2], False)
    assert (second.error, times(second), second.own) == ("B", [1, 2, 3], 1)


def test_the_last_eight_classes_are_kept():
    ring = EventRing(4)
    for number in range(10):
        freeze(ring, number, f"E{number}")
    assert [incident.error for incident in ring.frozen()] == [f"E{number}" for number in range(2, 10)]


def test_a_complete_incident_costs_nothing_afterwards():
    ring = EventRing(4)
    plain = ring.put
    freeze(ring, 1, "A")
    assert ring.put != plain
    ring.put_locked(raw(2))
    assert (ring.put, ring.put_locked) == (plain, plain)


def test_who_had_looked_up_where_to_write_before_an_error_is_in_its_incident_all_the_same():
    ring = EventRing(16)
    early = ring.put
    freeze(ring, 2, "A")
    early(raw(3))
    ring.put(raw(4))
    assert times(ring.frozen()[0]) == [2, 3, 4]
    for at in range(5, 12):
        ring.put_locked(raw(at))
    (incident,) = ring.frozen()
    assert times(incident) == [2, 3, 4, 5, 6, 7]
    assert incident.complete
    early = ring.put
    freeze(ring, 20, "A")
    early(raw(21))
    ring.put(raw(22))
    freeze(ring, 23, "B")
    assert times(ring.frozen()[0]) == [*range(2, 12), 20, 21, 22, 23]


def test_unlocked_writers_beside_freezing_lose_nothing_and_repeat_nothing():
    ring, lock, stop = EventRing(64), threading.Lock(), threading.Event()

    def write(base):
        at = base
        while not stop.is_set():
            ring.put(raw(at))  # as a worker does: the end of a call, and then the next start
            with lock:
                ring.put_locked(raw(at + 1))
            at += 2

    writers = [threading.Thread(target=write, args=(base,)) for base in (0, 10**9)]
    for writer in writers:
        writer.start()
    try:
        for number in range(400):
            with lock:
                freeze(ring, 2 * 10**9 + number, f"E{number % 3}")
                for incident in ring.frozen():
                    seen = times(incident)
                    for low, high in ((0, 10**9), (10**9, 2 * 10**9)):
                        one = [at for at in seen if low <= at < high]
                        assert one == [one[0] + step for step in range(len(one))] if one else True, "a gap or a repeat"
    finally:
        stop.set()
        for writer in writers:
            writer.join(GUARD)


# -- privacy -----------------------------------------------------------------------------------------------------------

MARKER, NUMBER = "do-not-tell-anybody", 8121977.0


def leaves(value):
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from leaves(getattr(value, field.name))
    elif isinstance(value, tuple):
        for each in value:
            yield from leaves(each)
    else:
        yield value


def test_nothing_of_a_payload_or_an_error_text_is_ever_there(runtime, make):
    keyed = RequestClass(name="keyed", overflow=OverflowPolicy.COALESCE)
    pool = make(classes=(keyed,), run_budget=0.05, slots=2)
    runtime.run_errors[NUMBER] = RunError(f"{MARKER} {NUMBER}")
    with pytest.raises(RunError, match=MARKER):
        pool.submit(task(NUMBER)).result(GUARD)
    options = {"request_class": "keyed", "key": MARKER, "context": int(NUMBER)}
    pool.submit(task(NUMBER), **options).exception(GUARD)
    runtime.hold(NUMBER + 1)
    slow = pool.submit({"x": np.array([NUMBER + 1], np.float32)}, **options)
    runtime.wait_inside(NUMBER + 1)
    with pytest.raises(TimeoutError):
        slow.result(0.001)
    evidence = pool.evidence(slow)
    assert isinstance(slow.exception(GUARD), RunBudgetError)
    runtime.let_go(NUMBER + 1)
    pool.close()
    assert {incident.error for incident in pool.frozen()} == {"RunError", "RunBudgetError", "TimeoutError"}
    told = [*leaves(pool.recent()), *leaves(pool.frozen()), *leaves(evidence), *leaves(pool.counters())]
    assert {type(value) for value in told} <= {str, int, float, bool, type(None)}
    text = repr(told)
    for secret in (MARKER, str(int(NUMBER)), str(int(NUMBER + 1)), f"{NUMBER:e}"[:6]):
        assert secret not in text


# -- the service with and without --------------------------------------------------------------------------------------


def test_without_a_ring_nothing_is_written_and_the_last_error_is_known(runtime, make):
    runtime.run_errors[1.0] = RunError("x")
    pool = make(events=0)
    future = pool.submit(task(1))
    assert isinstance(future.exception(GUARD), RunError)
    with pytest.raises(TimeoutError):
        inside(runtime, pool).result(0.001)
    assert (pool.recent(), pool.frozen(), future.accepted_at) == ((), (), None)
    assert pool.counters().last_error == "RunError"


@pytest.mark.parametrize("events", [-1, True, 1.5])
def test_a_size_that_makes_no_ring_is_refused(events):
    with pytest.raises((ValueError, TypeError)):
        ServiceConfig(capacity=1, events=events)


def test_counters_count_what_is_held(runtime, make):
    pool = make(slots=2)
    first, second = inside(runtime, pool, 0), inside(runtime, pool, 1)
    third = pool.submit(task(2))
    counters = pool.counters()
    assert (counters.running, counters.waiting, counters.live_tasks, counters.buffers) == (2, 1, 3, 3)
    assert second.cancel()
    counters = pool.counters()
    assert (counters.running, counters.live_tasks, counters.buffers) == (2, 2, 3), "its buffers are still in the call"
    assert third.cancel()
    counters = pool.counters()
    assert (counters.waiting, counters.live_tasks, counters.buffers) == (0, 1, 2)
    runtime.let_go(0)
    runtime.let_go(1)
    first.result(GUARD)
    pool.close()
    counters = pool.counters()
    assert (counters.running, counters.live_tasks, counters.buffers, counters.open_slots) == (0, 0, 0, 0)


def test_the_last_error_is_the_last_outcomes(runtime, make):
    runtime.run_errors[1.0] = RunError("x")
    pool = make()
    pool.submit(task(1)).exception(GUARD)
    late = inside(runtime, pool, deadline=0.02)
    late.exception(GUARD)
    assert pool.counters().last_error == "DeadlineExpiredError"
    assert pool.submit(task(3)).cancel()
    assert pool.counters().last_error == "DeadlineExpiredError"


class Old:
    """An observer from before there were the calls that may be missing."""

    def __init__(self):
        self.heard = []

    def dequeued(self, future):
        self.heard.append(("dequeued", future.task_id))

    def leased(self, slot, future):
        self.heard.append(("leased", slot, future.task_id))

    def returned(self, slot):
        self.heard.append(("returned", slot))

    def state(self, name):
        self.heard.append(("state", name))


def test_a_configured_observer_hears_everything_too(make):
    observer = Old()
    pool = make(observer=observer)
    future = pool.submit(task(1))
    future.result(GUARD)
    pool.close()
    assert observer.heard == [
        ("state", "accepting"),
        ("dequeued", "n1"),
        ("leased", 0, "n1"),
        ("returned", 0),
        ("state", "draining"),
        ("state", "closed"),
    ]
    assert stages(pool.recent(), future) == ["accepted", "started", "returned"]
