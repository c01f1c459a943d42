import threading

import pytest
from service_fakes import GUARD, task, value_of

from adapters.base import DelegateInitError, Grain, ModelLoadError, RunError
from harness.service.config import DelegatePolicy, Opening, ServiceConfig
from harness.service.errors import ServiceUnhealthyError, SessionReleaseError, SlotLostError
from harness.service.observer import NullObserver
from harness.service.pool import SessionPool
from harness.service.unsafe_shared import UnsafeShared


class Slots(NullObserver):
    """Hears what becomes of slots, and lets a test wait for it."""

    def __init__(self):
        self.heard = []
        self.changed = threading.Condition()

    def slot(self, slot, state):
        with self.changed:
            self.heard.append((slot, state))
            self.changed.notify_all()

    def wait_for(self, *what, times=1):
        with self.changed:
            assert self.changed.wait_for(lambda: self.heard.count(what) >= times, GUARD), self.heard

    def of(self, number):
        return [state for slot, state in self.heard if slot == number]


@pytest.fixture
def slots():
    return Slots()


@pytest.fixture
def make(runtime, slots):
    made = []

    def pool(kind=SessionPool, **config):
        made.append(kind(runtime.open, ServiceConfig(**{"capacity": 8, "observer": slots, **config})))
        return made[-1]

    yield pool
    for gate in runtime.gates.values():
        gate.set()
    for each in made:
        try:
            each.close()
        except SessionReleaseError:
            assert runtime.close_error is not None


@pytest.mark.parametrize("error", [KeyError("bug"), SystemExit()])
def test_a_run_that_breaks_its_session_has_the_slot_rebuilt_and_harms_no_other(runtime, make, slots, error):
    pool = make(slots=2)
    runtime.hold(0)
    neighbour = pool.submit(task(0))
    runtime.wait_inside(0)
    runtime.run_errors[1.0] = error
    failed, after = pool.submit(task(1)), pool.submit(task(2))
    assert failed.exception(GUARD) is not None
    assert value_of(after.result(GUARD)) == 4.0
    broken = next(each for each in runtime.sessions if 1.0 in runtime.order and each.closes)
    assert broken.closed_on is broken.opened_on
    number = runtime.sessions.index(broken)
    assert slots.of(number) == ["opening", "ready", "quarantined", "rebuilding", "ready"]
    assert slots.of(1 - number) == ["opening", "ready"]
    assert len(runtime.sessions) == 3
    runtime.let_go(0)
    assert value_of(neighbour.result(GUARD)) == 0.0


def test_a_classified_failure_leaves_the_session_unless_the_check_says_otherwise(runtime, make):
    runtime.run_errors[1.0] = RunError("no")
    pool = make()
    assert isinstance(pool.submit(task(1)).exception(GUARD), RunError)
    assert value_of(pool.submit(task(2)).result(GUARD)) == 4.0
    assert len(runtime.sessions) == 1
    checked = make(health_check=lambda session: session.number > 1)
    assert isinstance(checked.submit(task(1)).exception(GUARD), RunError)
    assert value_of(checked.submit(task(2)).result(GUARD)) == 4.0
    assert len(runtime.sessions) == 3, "the second pool's session was in doubt, asked and replaced"


def test_a_check_that_raises_is_no_proof(runtime, make):
    def check(_session):
        raise ValueError("no")

    runtime.run_errors[1.0] = RunError("no")
    pool = make(health_check=check)
    pool.submit(task(1)).exception(GUARD)
    assert value_of(pool.submit(task(2)).result(GUARD)) == 4.0
    assert len(runtime.sessions) == 2


def test_an_interrupt_that_fails_leaves_a_session_nobody_trusts(runtime, make, slots):
    runtime.grain = Grain.NODE

    def refuse(_session):
        raise RunError("no")

    runtime.on_interrupt = refuse
    pool = make()
    runtime.hold(0)
    future = pool.submit(task(0))
    runtime.wait_inside(0)
    assert future.cancel()
    runtime.let_go(0)
    assert value_of(pool.submit(task(1)).result(GUARD)) == 2.0
    assert slots.of(0) == ["opening", "ready", "quarantined", "rebuilding", "ready"]


def test_a_slot_that_cannot_be_rebuilt_is_lost_and_the_pool_goes_on_without_it(runtime, make, slots):
    pool = make(slots=2)
    runtime.open_errors[2] = ModelLoadError("no")
    runtime.run_errors[1.0] = KeyError("bug")
    pool.submit(task(1)).exception(GUARD)
    with slots.changed:
        assert slots.changed.wait_for(lambda: any(state == "lost" for _, state in slots.heard), GUARD)
    assert [value_of(pool.submit(task(n)).result(GUARD)) for n in range(2, 9)] == [2.0 * n for n in range(2, 9)]
    counters = pool.counters()
    assert (counters.usable_slots, counters.open_slots, pool.health) == (1, 1, "healthy")


def test_when_the_last_slot_is_lost_nobody_waits_for_ever_and_recover_brings_it_back(runtime, make, slots):
    pool = make()
    cause = ModelLoadError("no")
    runtime.open_errors[1] = cause
    runtime.run_errors[0.0] = KeyError("bug")
    runtime.hold(0)
    failed = pool.submit(task(0))
    runtime.wait_inside(0)
    waiting = [pool.submit(task(n)) for n in (1, 2)]
    called = []
    waiting[0].add_done_callback(called.append)
    runtime.let_go(0)
    assert isinstance(failed.exception(GUARD), KeyError)
    for future in waiting:
        error = future.exception(GUARD)
        assert isinstance(error, SlotLostError)
        assert error.__cause__ is cause
    slots.wait_for(0, "lost")
    with pytest.raises(ServiceUnhealthyError):
        pool.submit(task(3))
    pool.recover()
    slots.wait_for(0, "ready", times=2)
    while pool.health != "healthy":
        threading.Event().wait(0.001)
    assert value_of(pool.submit(task(3)).result(GUARD)) == 6.0
    assert called == waiting[:1]


def test_a_session_that_does_not_close_loses_its_slot(runtime, make, slots):
    pool = make(slots=2)
    runtime.close_error = RunError("release")
    runtime.run_errors[1.0] = KeyError("bug")
    pool.submit(task(1)).exception(GUARD)
    with slots.changed:
        assert slots.changed.wait_for(lambda: any(state == "lost" for _, state in slots.heard), GUARD)
    assert value_of(pool.submit(task(2)).result(GUARD)) == 4.0
    assert len(runtime.sessions) == 2, "two sessions might not fit: the slot is not opened again"
    with pytest.raises(SessionReleaseError, match=r"2 session\(s\)"):
        pool.close()


def test_a_lazy_pool_opens_a_slot_for_work_that_nobody_takes_at_once(runtime, make):
    pool = make(slots=3, opening=Opening.LAZY)
    assert runtime.sessions == []
    assert value_of(pool.submit(task(1)).result(GUARD)) == 2.0
    assert len(runtime.sessions) == 1
    for n in range(2, 6):
        pool.submit(task(n)).result(GUARD)
    assert len(runtime.sessions) <= 2, "one task at a time needs one slot"
    for n in (10, 11, 12):
        runtime.hold(n)
        pool.submit(task(n))
    for n in (10, 11, 12):
        runtime.wait_inside(n)
    assert len(runtime.sessions) == 3


def test_a_slot_that_is_loading_stalls_no_other(runtime, make):
    loading, go_on = threading.Event(), threading.Event()
    opened = runtime.open

    def slow(*, fallback=False):
        if len(runtime.fallbacks_asked) == 1:
            loading.set()
            assert go_on.wait(GUARD)
        return opened(fallback=fallback)

    runtime.open = slow
    pool = make(slots=2, opening=Opening.LAZY)
    runtime.hold(0)
    first = pool.submit(task(0))
    runtime.wait_inside(0)
    others = [pool.submit(task(n)) for n in (1, 2)]
    assert loading.wait(GUARD)
    runtime.let_go(0)
    assert [value_of(each.result(GUARD)) for each in (first, *others)] == [0.0, 2.0, 4.0]
    assert len(runtime.sessions) == 1, "the slot that was there did it all"
    go_on.set()


def test_a_lazy_slot_that_does_not_open_is_lost_and_another_takes_its_work(runtime, make, slots):
    runtime.open_errors[0] = ModelLoadError("no")
    pool = make(slots=2, opening=Opening.LAZY)
    assert value_of(pool.submit(task(1)).result(GUARD)) == 2.0
    assert sorted(state for _, state in slots.heard) == ["lost", "opening", "opening", "ready"]


def test_closing_a_lazy_pool_opens_nothing(runtime, make):
    pool = make(slots=2, opening=Opening.LAZY)
    pool.close()
    assert runtime.sessions == []
    assert pool.state == "closed"


def test_cpu_only_never_asks_for_the_delegate(runtime, make):
    pool = make(slots=2, delegate=DelegatePolicy.CPU_ONLY)
    assert runtime.fallbacks_asked == [True, True]
    assert pool.fallbacks == 0, "what was asked for is no fallback"


def test_a_fallback_is_given_up_when_the_delegate_starts_again_and_proves_sound(runtime, make, slots):
    runtime.open_errors[0] = DelegateInitError("no")
    sound = []

    def check(session):
        return session.number in sound

    pool = make(delegate=DelegatePolicy.PREFER, health_check=check)
    assert pool.fallbacks == 1
    assert value_of(pool.submit(task(1)).result(GUARD)) == 2.0
    pool.recover()
    assert value_of(pool.submit(task(2)).result(GUARD)) == 4.0
    fallback, tried = runtime.sessions
    assert (fallback.closes, tried.closes) == (0, 1), "the delegate started and was not sound: the fallback goes on"
    sound.append(3)
    pool.recover()
    slots.wait_for(0, "ready", times=2)
    assert value_of(pool.submit(task(3)).result(GUARD)) == 6.0
    assert fallback.closes == 1
    assert [each.delegate.actual for each in runtime.sessions] == ["cpu", "fast", "fast"]
    assert pool.fallbacks == 1


def test_a_delegate_that_does_not_start_again_leaves_the_fallback(runtime, make):
    runtime.open_errors.update({0: DelegateInitError("no"), 2: DelegateInitError("no")})
    pool = make(delegate=DelegatePolicy.PREFER)
    pool.recover()
    assert value_of(pool.submit(task(1)).result(GUARD)) == 2.0
    assert [each.closes for each in runtime.sessions] == [0]


def test_recover_leaves_sound_slots_alone(runtime, make):
    pool = make(slots=2)
    pool.recover()
    assert value_of(pool.submit(task(1)).result(GUARD)) == 2.0
    assert len(runtime.sessions) == 2


def test_the_positive_control_shares_one_session_when_it_is_rebuilt_too():
    from service_fakes import FakeRuntime

    runtime, slots = FakeRuntime(), Slots()
    runtime.run_errors[1.0] = KeyError("bug")
    service = UnsafeShared(runtime.open, ServiceConfig(capacity=4, observer=slots))
    service.submit(task(1)).exception(GUARD)
    assert value_of(service.submit(task(2)).result(GUARD)) == 4.0
    service.close()
    assert len(runtime.sessions) == 1, "the other worker never left it"
    assert runtime.sessions[0].closes == 1
