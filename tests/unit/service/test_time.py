import functools
import threading
import time
from concurrent.futures import CancelledError

import pytest
from service_fakes import GUARD, inside, task, value_of

from adapters.base import Grain, RunInterruptedError
from harness.service import clock
from harness.service.errors import DeadlineExpiredError, RunBudgetError, ServiceUnhealthyError
from harness.service.observer import NullObserver
from harness.service.requests import RequestClass

SOON = 0.02


class Told(NullObserver):
    def __init__(self):
        self.ends, self.healths = [], []
        self.well = threading.Event()

    def ended(self, future, how):
        self.ends.append((future.task_id, how))

    def health(self, name):
        self.healths.append(name)
        if name == "healthy":
            self.well.set()


@pytest.fixture
def told():
    return Told()


@pytest.fixture
def make(pools, told):
    return functools.partial(pools, observer=told)


def test_a_deadline_fires_while_the_worker_is_busy_with_another_task(runtime, make, told):
    pool = make()
    inside(runtime, pool)
    begun = time.monotonic()
    future = pool.submit(task(1), deadline=SOON)
    error = future.exception(GUARD)
    assert isinstance(error, DeadlineExpiredError)
    assert not isinstance(error, TimeoutError), "it must not be taken for a wait's time-out"
    assert error.outcome == "EXPIRED"
    assert SOON <= time.monotonic() - begun < GUARD / 2
    assert (future.expired_kind, future.cancel_kind, future.cancel()) == ("queued", None, False)
    assert (pool.counters().expired, pool.counters().waiting) == (1, 0)
    assert told.ends == [(future.task_id, "EXPIRED")]
    runtime.let_go(0)
    pool.close()
    assert runtime.order == [0.0], "it never starts afterwards"


def test_a_deadline_ends_a_running_task_and_its_late_result_is_dropped_and_counted(runtime, make, told):
    pool = make()
    future = inside(runtime, pool, deadline=SOON)
    assert isinstance(future.exception(GUARD), DeadlineExpiredError)
    assert future.expired_kind == "running"
    after = pool.submit(task(1))
    assert runtime.order == [0.0], "the slot is held until the native call has returned"
    runtime.let_go(0)
    assert value_of(after.result(GUARD)) == 2.0
    assert isinstance(future.exception(0), DeadlineExpiredError)
    assert pool.counters().late_results == 1
    assert told.ends == [(future.task_id, "EXPIRED"), (future.task_id, "late")]


def test_a_deadline_interrupts_a_session_that_can_be(runtime, make):
    runtime.grain = Grain.NODE
    runtime.run_errors[0.0] = RunInterruptedError("interrupted")
    runtime.on_interrupt = lambda _session: runtime.let_go(0)
    pool = make()
    future = inside(runtime, pool, deadline=SOON)
    assert isinstance(future.exception(GUARD), DeadlineExpiredError)
    assert value_of(pool.submit(task(1)).result(GUARD)) == 2.0
    assert runtime.interrupts == [0.0]
    assert pool.counters().late_results == 0, "what was interrupted has no result"


def test_a_class_has_a_deadline_and_a_request_may_bring_its_own(runtime, make):
    pool = make(classes=(RequestClass(name="frame", deadline=SOON),))
    inside(runtime, pool)
    own = pool.submit(task(2), request_class="frame", deadline=GUARD * 10)
    frame = pool.submit(task(1), request_class="frame")
    assert isinstance(frame.exception(GUARD), DeadlineExpiredError)
    runtime.let_go(0)
    assert value_of(own.result(GUARD)) == 4.0


def test_there_is_no_clock_thread_before_the_first_deadline(make):
    pool = make()
    pool.submit(task(1)).result(GUARD)
    assert pool._clock.threads == []
    pool.submit(task(2), deadline=GUARD).result(GUARD)
    (thread,) = pool._clock.threads
    pool.close()
    assert not thread.is_alive()


def test_the_clock_does_not_keep_tasks_that_have_ended(make):
    pool = make()
    for n in range(1000):
        pool.submit(task(n), deadline=1000.0).result(GUARD)
    assert len(pool._clock._heap) <= 130


def test_callbacks_of_an_expired_task_run_on_a_clock_thread_and_delay_no_other(runtime, make):
    pool = make()
    inside(runtime, pool)
    first, second = pool.submit(task(1), deadline=SOON), pool.submit(task(2), deadline=2 * SOON)
    ran_on, seen = [], []
    over = threading.Event()

    def callback(_future):
        ran_on.append(threading.current_thread())
        seen.append(type(second.exception(GUARD)))
        over.set()

    first.add_done_callback(callback)
    assert over.wait(GUARD)
    assert seen == [DeadlineExpiredError], "it waited for a deadline on the clock's own thread"
    assert ran_on[0].name == "SessionPool-clock"


def test_a_raising_callback_does_not_stop_the_clock(runtime, make, caplog):
    pool = make()
    inside(runtime, pool)
    first = pool.submit(task(1), deadline=SOON)

    def callback(_future):
        raise SystemExit

    first.add_done_callback(callback)
    assert isinstance(first.exception(GUARD), DeadlineExpiredError)
    assert isinstance(pool.submit(task(2), deadline=SOON).exception(GUARD), DeadlineExpiredError)
    pool.close(drain=False) if runtime.let_go(0) else pool.close()
    assert "raised SystemExit" in caplog.text


def test_without_a_thread_for_the_clock_the_task_is_not_left_without_its_deadline(runtime, make, monkeypatch):
    pool = make()
    inside(runtime, pool)

    def refuse(_thread):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start"):
            pool.submit(task(1), deadline=SOON)
    assert pool.counters().waiting == 0
    runtime.let_go(0)
    assert value_of(pool.submit(task(2), deadline=GUARD).result(GUARD)) == 4.0
    assert 1.0 not in runtime.order


def test_a_task_that_is_due_is_not_started_although_the_clock_is_late(runtime, make, monkeypatch):
    pool = make()
    inside(runtime, pool)
    future = pool.submit(task(1), deadline=GUARD * 10)
    now = time.monotonic() + GUARD * 20
    for module in ("deadlines",):
        monkeypatch.setattr(f"harness.service.{module}.monotonic", lambda: now)
    runtime.let_go(0)
    assert isinstance(future.exception(GUARD), DeadlineExpiredError)
    pool.close()
    assert runtime.order == [0.0]


def test_a_run_over_its_budget_fails_and_holds_its_slot(runtime, make):
    pool = make(run_budget=SOON)
    future = inside(runtime, pool)
    error = future.exception(GUARD)
    assert isinstance(error, RunBudgetError)
    assert not isinstance(error, TimeoutError)
    after = pool.submit(task(1))
    assert not after.running()
    runtime.let_go(0)
    assert value_of(after.result(GUARD)) == 2.0
    assert pool.counters().late_results == 1


def test_a_run_within_its_budget_is_left_alone(make):
    pool = make(run_budget=GUARD)
    for n in range(200):
        assert value_of(pool.submit(task(n)).result(GUARD)) == 2.0 * n
    assert len(pool._clock._heap) <= 130


def test_abandoned_runs_stop_admission_until_a_session_has_proved_sound(runtime, make, told):
    checked = []

    def check(session):
        checked.append((session.number, threading.current_thread() is session.opened_on))
        return True

    pool = make(abandoned_limit=1, health_check=check)
    future = inside(runtime, pool, deadline=SOON)
    waiting = pool.submit(task(1))
    future.exception(GUARD)
    assert pool.health == "unhealthy"
    with pytest.raises(ServiceUnhealthyError) as caught:
        pool.submit(task(2))
    assert caught.value.refusal == "unhealthy"
    assert pool.counters().abandoned == 1
    runtime.let_go(0)
    assert value_of(waiting.result(GUARD)) == 2.0, "what was accepted still runs"
    assert told.well.wait(GUARD)
    assert value_of(pool.submit(task(2)).result(GUARD)) == 4.0
    assert checked == [(0, True)]
    assert told.healths == ["unhealthy", "healthy"]
    assert (pool.health, pool.counters().abandoned) == ("healthy", 0)


def test_a_session_that_fails_its_check_is_rebuilt_before_tasks_are_taken(runtime, make, told):
    pool = make(abandoned_limit=1, health_check=lambda session: session.number > 0)
    future = inside(runtime, pool)
    assert future.cancel()
    assert pool.health == "unhealthy"
    runtime.let_go(0)
    assert told.well.wait(GUARD)
    assert len(runtime.sessions) == 2
    assert runtime.sessions[0].closes == 1
    assert value_of(pool.submit(task(2)).result(GUARD)) == 4.0
    with pytest.raises(CancelledError):
        future.result(0)


def test_a_time_out_of_a_wait_ends_the_wait_alone(runtime, make):
    pool = make()
    future = inside(runtime, pool)
    with pytest.raises(TimeoutError):
        future.result(SOON)
    again = pool.submit(task(0), retry_of=future)
    runtime.let_go(0)
    assert value_of(future.result(GUARD)) == value_of(again.result(GUARD)) == 0.0
    assert again.retry_of == future.task_id != again.task_id


def test_timers_are_called_in_order_and_a_cancelled_one_never():
    lock = threading.RLock()
    made = clock.Clock(lock, "test-clock")
    called, over = [], threading.Event()
    with lock:
        now = clock.monotonic()
        made.at(now + 2 * SOON, lambda: called.append("late"))
        made.at(now + SOON, lambda: called.append("early"))
        made.at(now + SOON, lambda: called.append("never")).cancel()
        made.at(now + 3 * SOON, over.set)
    assert over.wait(GUARD)
    with lock:
        made.stop()
    made.join()
    assert called == ["early", "late"]
    assert made.threads == []
