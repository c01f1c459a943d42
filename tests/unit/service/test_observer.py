import threading

import pytest
from service_fakes import GUARD, task, value_of

from harness.service.config import ServiceConfig
from harness.service.errors import QueueFullError, RunAbortedError, ServiceClosedError
from harness.service.observer import NullObserver
from harness.service.pool import SessionPool
from harness.service.queue import SerialQueue


class Recorder:
    def __init__(self):
        self.heard = []
        self.threads = {}

    def _hear(self, *what):
        self.heard.append(what)
        self.threads.setdefault(what[0], set()).add(threading.current_thread())

    def dequeued(self, future):
        self._hear("dequeued", future, future.running())

    def leased(self, slot, future):
        self._hear("leased", slot, future)

    def returned(self, slot):
        self._hear("returned", slot)

    def state(self, name):
        self._hear("state", name)


def test_one_task_is_told_in_order():
    from service_fakes import FakeRuntime

    runtime, observer = FakeRuntime(), Recorder()
    with SerialQueue(runtime.open, ServiceConfig(capacity=1, observer=observer)) as queue:
        future = queue.submit(task(1))
        future.result(GUARD)
    assert observer.heard == [
        ("state", "accepting"),
        ("dequeued", future, True),
        ("leased", 0, future),
        ("returned", 0),
        ("state", "draining"),
        ("state", "closed"),
    ]
    worker = {runtime.sessions[0].opened_on}
    assert observer.threads["dequeued"] == observer.threads["leased"] == observer.threads["returned"] == worker


def test_a_cancelled_waiting_task_is_never_dequeued(runtime):
    observer = Recorder()
    runtime.hold(0)
    with SerialQueue(runtime.open, ServiceConfig(capacity=2, observer=observer)) as queue:
        first = queue.submit(task(0))
        runtime.wait_inside(0)
        assert queue.submit(task(1)).cancel()
        runtime.let_go(0)
    assert [what[1] for what in observer.heard if what[0] == "dequeued"] == [first]


def test_the_lease_outlives_a_running_cancel(runtime):
    observer = Recorder()
    runtime.hold(0)
    with SerialQueue(runtime.open, ServiceConfig(capacity=2, observer=observer)) as queue:
        future = queue.submit(task(0))
        runtime.wait_inside(0)
        assert future.cancel()
        assert ("returned", 0) not in observer.heard
        runtime.let_go(0)
    assert ("returned", 0) in observer.heard


def test_what_is_told_never_shows_more_waiting_tasks_than_places(runtime):
    """Clients count up before submit returns, the observer counts down: the sum is never above capacity."""
    capacity, breaches, lock = 2, [], threading.Lock()

    class Counting(NullObserver):
        def __init__(self):
            self.dequeues = 0

        def dequeued(self, future):  # noqa: ARG002 - the protocol
            with lock:
                self.dequeues += 1

    observer = Counting()
    pool = SessionPool(runtime.open, ServiceConfig(capacity=capacity, slots=2, observer=observer))
    accepted = 0
    for n in range(3000):
        try:
            pool.submit(task(n))
        except QueueFullError:
            continue
        accepted += 1
        with lock:
            if accepted - observer.dequeues > capacity:
                breaches.append(n)
    pool.close()
    assert breaches == []
    assert observer.dequeues == accepted


def test_a_failed_constructor_tells_nothing(runtime):
    observer = Recorder()
    runtime.open_errors[1] = RuntimeError("no")
    with pytest.raises(RuntimeError):
        SessionPool(runtime.open, ServiceConfig(capacity=1, slots=2, observer=observer))
    assert observer.heard == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("method", ["dequeued", "leased", "returned"])
def test_an_observer_that_raises_closes_the_service_and_leaves_no_task_behind(runtime, method):
    class Broken(NullObserver):
        pass

    def broken(*_):
        raise RuntimeError("observer")

    setattr(Broken, method, broken)
    runtime.hold(0)
    queue = SerialQueue(runtime.open, ServiceConfig(capacity=4, observer=Broken()))
    first = queue.submit(task(0))
    if method == "returned":
        runtime.wait_inside(0)
        second = queue.submit(task(1))
        runtime.let_go(0)
        assert value_of(first.result(GUARD)) == 0.0
        with pytest.raises(BaseException):  # noqa: B017, PT011 - CancelledError is a BaseException in some versions
            second.result(GUARD)
    else:
        assert isinstance(first.exception(GUARD), RunAbortedError)
    queue.close()
    assert queue.state == "closed"
    with pytest.raises(ServiceClosedError):
        queue.submit(task(3))


def test_the_slot_is_back_before_the_outcome_is_visible(runtime):
    observer, heard = Recorder(), []
    runtime.hold(0)
    with SerialQueue(runtime.open, ServiceConfig(capacity=1, observer=observer)) as queue:
        future = queue.submit(task(0))
        runtime.wait_inside(0)
        future.add_done_callback(lambda _: heard.extend(observer.heard))
        runtime.let_go(0)
    assert heard[-1] == ("returned", 0)


def test_the_default_observer_does_nothing(runtime):
    with SerialQueue(runtime.open, ServiceConfig(capacity=1)) as queue:
        assert value_of(queue.submit(task(1)).result(GUARD)) == 2.0
