import threading

import pytest
from service_fakes import GUARD, task, value_of

from adapters.base import DelegateInitError, ModelLoadError, RunError
from harness.service.config import DelegatePolicy, ServiceConfig
from harness.service.errors import QueueFullError
from harness.service.pool import SessionPool


def config(**changes):
    return ServiceConfig(**{"capacity": 4, "slots": 3, **changes})


def test_every_slot_has_its_own_session_on_its_own_thread(runtime):
    for n in range(3):
        runtime.hold(n)
    with SessionPool(runtime.open, config()) as pool:
        futures = [pool.submit(task(n)) for n in range(3)]
        for n in range(3):
            runtime.wait_inside(n)  # all three are inside invoke at once
        for n in range(3):
            runtime.let_go(n)
        assert [value_of(future.result(GUARD)) for future in futures] == [0.0, 2.0, 4.0]
    assert len({session.opened_on for session in runtime.sessions}) == 3
    for session in runtime.sessions:
        assert session.ran_on == {session.opened_on}
        assert session.closed_on is session.opened_on


def test_capacity_counts_those_that_wait_not_those_that_run(runtime):
    for n in range(3):
        runtime.hold(n)
    with SessionPool(runtime.open, config(capacity=2)) as pool:
        for n in range(3):
            pool.submit(task(n))
            runtime.wait_inside(n)
        kept = [pool.submit(task(10)), pool.submit(task(11))]
        with pytest.raises(QueueFullError):
            pool.submit(task(12))
        assert kept[0].cancel()
        pool.submit(task(13))
        for n in range(3):
            runtime.let_go(n)


def test_one_stuck_slot_stops_nobody_else(runtime):
    runtime.hold(0)
    with SessionPool(runtime.open, config(slots=2, capacity=16)) as pool:
        stuck = pool.submit(task(0))
        runtime.wait_inside(0)
        assert [value_of(pool.submit(task(n)).result(GUARD)) for n in range(1, 9)] == [2.0 * n for n in range(1, 9)]
        runtime.let_go(0)
        assert value_of(stuck.result(GUARD)) == 0.0


@pytest.mark.parametrize("error", [DelegateInitError("no"), ModelLoadError("no"), RuntimeError("no"), SystemExit()])
def test_a_slot_that_does_not_open_closes_the_others_and_raises(runtime, error):
    runtime.open_errors[1] = error
    before = set(threading.enumerate())
    with pytest.raises(type(error)) as caught:
        SessionPool(runtime.open, config())
    assert caught.value is error
    (first,) = runtime.sessions
    assert first.closes == 1
    assert first.closed_on is first.opened_on is not threading.current_thread()
    assert set(threading.enumerate()) == before, "the workers were joined"
    assert runtime.fallbacks_asked == [False, False], "the third slot never opened"


def test_prefer_opens_the_failing_slot_on_the_cpu_path(runtime):
    runtime.open_errors[1] = DelegateInitError("no")
    with SessionPool(runtime.open, config(delegate=DelegatePolicy.PREFER)) as pool:
        assert pool.fallbacks == pool.counters().fallbacks == 1
        assert value_of(pool.submit(task(1)).result(GUARD)) == 2.0
    assert runtime.fallbacks_asked == [False, False, True, False]
    assert [session.delegate.actual for session in runtime.sessions] == ["fast", "cpu", "fast"]


def test_prefer_falls_back_where_the_plain_path_loads_what_the_delegates_does_not(runtime):
    runtime.open_errors[0] = ModelLoadError("a prepared asset of another version")
    with SessionPool(runtime.open, config(delegate=DelegatePolicy.PREFER)) as pool:
        assert runtime.fallbacks_asked == [False, True, False, False]
        assert pool.fallbacks == 1


def test_a_model_that_loads_on_no_path_is_the_constructors_error(runtime):
    runtime.open_errors.update({0: ModelLoadError("no"), 1: ModelLoadError("no")})
    with pytest.raises(ModelLoadError):
        SessionPool(runtime.open, config(delegate=DelegatePolicy.PREFER))
    assert runtime.fallbacks_asked == [False, True]


def test_prefer_falls_back_for_nothing_else(runtime):
    runtime.open_errors[0] = RunError("no")
    with pytest.raises(RunError):
        SessionPool(runtime.open, config(delegate=DelegatePolicy.PREFER))
    assert runtime.fallbacks_asked == [False]


def test_a_fallback_that_fails_too_is_raised(runtime):
    runtime.open_errors.update({0: DelegateInitError("no"), 1: ModelLoadError("no")})
    with pytest.raises(ModelLoadError):
        SessionPool(runtime.open, config(delegate=DelegatePolicy.PREFER))


def test_a_worker_that_cannot_start_is_the_constructors_error(runtime, monkeypatch):
    start = threading.Thread.start
    started = []

    def limited(thread):
        if len(started) == 1:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    with pytest.raises(RuntimeError, match="can't start"):
        SessionPool(runtime.open, config())
    assert not started[0].is_alive()
    assert runtime.sessions[0].closes == 1


def test_counters(runtime):
    runtime.hold(0)
    pool = SessionPool(runtime.open, config(slots=1))
    pool.submit(task(0))
    runtime.wait_inside(0)
    pool.submit(task(1))
    counters = pool.counters()
    assert (counters.accepted, counters.waiting, counters.open_slots) == (2, 1, 1)
    runtime.let_go(0)
    pool.close()
    counters = pool.counters()
    assert (counters.accepted, counters.waiting, counters.open_slots, counters.release_errors) == (2, 0, 0, 0)
