import threading

from service_fakes import GUARD, FakeRuntime, task, value_of

from adapters.base import Grain
from harness.service.config import ServiceConfig
from harness.service.queue import SerialQueue
from harness.service.unsafe_shared import UnsafeShared


def test_it_says_that_it_is_known_bad():
    assert UnsafeShared.known_bad
    assert UnsafeShared.workers == 2
    assert not SerialQueue.known_bad


def test_two_workers_are_inside_one_session_at_once():
    runtime = FakeRuntime()
    runtime.hold(0)
    runtime.hold(1)
    service = UnsafeShared(runtime.open, ServiceConfig(capacity=4))
    futures = [service.submit(task(0)), service.submit(task(1))]
    for n in (0, 1):
        runtime.wait_inside(n)
    (session,) = runtime.sessions
    assert len(session.ran_on) == 2
    assert ("run", 0) in runtime.breaches
    for n in (0, 1):
        runtime.let_go(n)
    assert [value_of(future.result(GUARD)) for future in futures] == [0.0, 2.0]
    service.close()


def test_the_session_is_closed_once_and_only_when_both_workers_have_left():
    runtime = FakeRuntime()
    runtime.hold(0)
    service = UnsafeShared(runtime.open, ServiceConfig(capacity=4))
    service.submit(task(0))
    runtime.wait_inside(0)
    closer = threading.Thread(target=service.close)
    closer.start()
    (session,) = runtime.sessions
    assert session.closes == 0
    runtime.let_go(0)
    closer.join(GUARD)
    assert not closer.is_alive()
    assert session.closes == 1
    assert service.state == "closed"


def test_a_cancel_never_interrupts_the_shared_session():
    runtime = FakeRuntime()
    runtime.grain = Grain.NODE
    runtime.hold(0)
    service = UnsafeShared(runtime.open, ServiceConfig(capacity=4))
    future = service.submit(task(0))
    runtime.wait_inside(0)
    assert future.cancel()
    runtime.let_go(0)
    service.close()
    assert runtime.interrupts == []
