import threading
from concurrent.futures import CancelledError, wait

import pytest
from service_fakes import GUARD, task, value_of

from adapters.base import RunError
from harness.service.config import ServiceConfig
from harness.service.errors import QueueFullError, ServiceClosedError, SessionReleaseError
from harness.service.observer import NullObserver
from harness.service.pool import SessionPool
from harness.service.queue import SerialQueue


class States(NullObserver):
    """Hears states, and lets a test wait for one."""

    def __init__(self):
        self.heard = []
        self.draining = threading.Event()

    def state(self, name):
        self.heard.append(name)
        if name == "draining":
            self.draining.set()


@pytest.fixture
def states():
    return States()


@pytest.fixture
def queue(runtime, states):
    runtime.hold(0)
    made = SerialQueue(runtime.open, ServiceConfig(capacity=8, observer=states))
    yield made
    runtime.let_go(0)
    made.close()


class Closer:
    """Closes on a thread of its own; `returned` is set when close() has returned or raised."""

    def __init__(self, service, **how):
        self.error = None
        self.returned = threading.Event()
        self.thread = threading.Thread(target=self._close, args=(service, how))
        self.thread.start()

    def _close(self, service, how):
        try:
            service.close(**how)
        except Exception as error:  # noqa: BLE001 - the test looks at it
            self.error = error
        self.returned.set()

    def join(self):
        assert self.returned.wait(GUARD), "close() never returned"
        self.thread.join(GUARD)


def start_held(runtime, queue, waiting):
    running = queue.submit(task(0))
    runtime.wait_inside(0)
    return running, [queue.submit(task(n + 1)) for n in range(waiting)]


def test_a_drain_runs_what_was_accepted(runtime, queue, states):
    running, waiting = start_held(runtime, queue, 3)
    closer = Closer(queue)
    assert states.draining.wait(GUARD)
    assert queue.state == "draining"
    with pytest.raises(ServiceClosedError, match="the service is draining"):
        queue.submit(task(9))
    assert not closer.returned.is_set()
    runtime.let_go(0)
    closer.join()
    assert [value_of(future.result(0)) for future in [running, *waiting]] == [0.0, 2.0, 4.0, 6.0]
    assert states.heard == ["accepting", "draining", "closed"]


def test_an_abort_cancels_what_waits_and_awaits_what_runs(runtime, queue, states):
    running, waiting = start_held(runtime, queue, 3)
    closer = Closer(queue, drain=False)
    assert wait(waiting, GUARD).not_done == set()
    assert [(future.cancelled(), future.cancel_kind) for future in waiting] == [(True, "queued")] * 3
    assert not running.done()
    assert not closer.returned.is_set()
    assert runtime.sessions[0].closes == 0, "nothing is released under a native call"
    runtime.let_go(0)
    closer.join()
    assert value_of(running.result(0)) == 0.0
    assert runtime.order == [0.0]
    assert states.heard == ["accepting", "draining", "closed"]


def test_an_abort_wakes_those_who_wait_and_runs_callbacks(runtime, queue):
    _, waiting = start_held(runtime, queue, 2)
    ran_on = []
    woken = []

    def waiter():
        with pytest.raises(CancelledError):
            waiting[0].result(GUARD)
        woken.append(True)

    thread = threading.Thread(target=waiter)
    thread.start()
    waiting[1].add_done_callback(lambda _: ran_on.append(threading.current_thread()))
    closer = Closer(queue, drain=False)
    thread.join(GUARD)
    assert woken == [True]
    runtime.let_go(0)
    closer.join()
    assert ran_on == [closer.thread]


def test_an_abort_escalates_a_drain_under_way(runtime, queue, states):
    running, waiting = start_held(runtime, queue, 2)
    draining = Closer(queue)
    assert states.draining.wait(GUARD)
    aborting = Closer(queue, drain=False)
    assert wait(waiting, GUARD).not_done == set()
    assert all(future.cancelled() for future in waiting)
    runtime.let_go(0)
    draining.join()
    aborting.join()
    assert value_of(running.result(0)) == 0.0
    assert states.heard == ["accepting", "draining", "closed"]


def test_a_drain_does_not_soften_an_abort(runtime, queue):
    _, waiting = start_held(runtime, queue, 1)
    closers = [Closer(queue, drain=False), Closer(queue)]
    assert wait(waiting, GUARD).not_done == set()
    runtime.let_go(0)
    for closer in closers:
        closer.join()
    assert waiting[0].cancelled()


def test_two_threads_close_and_both_return_when_it_is_done(runtime, queue):
    running, _ = start_held(runtime, queue, 0)
    closers = [Closer(queue), Closer(queue)]
    runtime.let_go(0)
    for closer in closers:
        closer.join()
        assert closer.error is None
    assert running.done()
    assert runtime.sessions[0].closes == 1
    assert queue.state == "closed"


def test_no_close_returns_while_an_aborted_task_has_no_outcome(runtime, queue, states):
    _, waiting = start_held(runtime, queue, 1)
    with waiting[0]._condition:  # the abort cannot give the task its outcome yet
        aborting = Closer(queue, drain=False)
        assert states.draining.wait(GUARD)
        runtime.let_go(0)
        other = Closer(queue)
        assert not other.returned.wait(0.05)
    for closer in (aborting, other):
        closer.join()
    assert waiting[0].cancelled()


def test_a_second_close_does_nothing(runtime, queue, states):
    queue.close()
    queue.close(drain=False)
    assert runtime.sessions[0].closes == 1
    assert states.heard == ["accepting", "draining", "closed"]


def test_submit_after_close_is_refused(queue):
    queue.close()
    with pytest.raises(ServiceClosedError, match="the service is closed"):
        queue.submit(task(1))


def test_a_closed_full_service_says_closed(runtime, states):
    runtime.hold(0)
    queue = SerialQueue(runtime.open, ServiceConfig(capacity=1, observer=states))
    start_held(runtime, queue, 1)
    with pytest.raises(QueueFullError):
        queue.submit(task(5))
    closer = Closer(queue)
    assert states.draining.wait(GUARD)
    with pytest.raises(ServiceClosedError):
        queue.submit(task(5))
    runtime.let_go(0)
    closer.join()


@pytest.mark.parametrize("drain", [True, False])
def test_close_in_a_done_callback_asks_and_returns(runtime, queue, drain):
    returned = threading.Event()
    running, waiting = start_held(runtime, queue, 1)

    def callback(_future):
        queue.close(drain=drain)
        assert queue.state == "draining"
        returned.set()

    running.add_done_callback(callback)
    runtime.let_go(0)
    assert returned.wait(GUARD)
    queue.close()
    assert queue.state == "closed"
    assert waiting[0].cancelled() is not drain


def test_close_in_a_cancels_callback_waits_as_usual(runtime, queue):
    _, waiting = start_held(runtime, queue, 1)
    states = []

    def callback(_future):
        runtime.let_go(0)
        queue.close()
        states.append(queue.state)

    waiting[0].add_done_callback(callback)
    assert waiting[0].cancel()
    assert states == ["closed"]


def test_close_waits_for_a_cancelled_task_that_still_runs(runtime, queue):
    running, _ = start_held(runtime, queue, 0)
    assert running.cancel()
    closer = Closer(queue, drain=False)
    assert runtime.sessions[0].closes == 0
    assert not closer.returned.is_set()
    runtime.let_go(0)
    closer.join()
    assert running.cancelled()


def test_a_release_failure_is_raised_by_close_and_hides_no_outcome(runtime):
    cause = RunError("release")
    runtime.close_error = cause
    pool = SessionPool(runtime.open, ServiceConfig(capacity=4, slots=2))
    future = pool.submit(task(1))
    for _ in range(2):
        with pytest.raises(SessionReleaseError, match=r"2 session\(s\) did not close cleanly: RunError") as caught:
            pool.close()
        assert caught.value.__cause__ is cause
    assert value_of(future.result(0)) == 2.0
    assert pool.counters().release_errors == 2
    assert pool.counters().open_slots == 0
    assert pool.state == "closed"
    assert [session.closes for session in runtime.sessions] == [1, 1]


def test_a_release_that_raises_a_base_exception_still_closes(runtime):
    runtime.close_error = SystemExit()
    queue = SerialQueue(runtime.open, ServiceConfig(capacity=1))
    with pytest.raises(SessionReleaseError, match="SystemExit"):
        queue.close()
    assert queue.state == "closed"


def test_leaving_the_block_drains(runtime):
    with SerialQueue(runtime.open, ServiceConfig(capacity=4)) as queue:
        futures = [queue.submit(task(n)) for n in range(4)]
    assert [value_of(future.result(0)) for future in futures] == [0.0, 2.0, 4.0, 6.0]
