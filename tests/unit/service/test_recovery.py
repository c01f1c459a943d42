import threading

import pytest
from service_fakes import GUARD, FakeRuntime, inside, task, value_of

from adapters.base import Grain, RunError, RunInterruptedError, Scope
from harness.service.config import ServiceConfig
from harness.service.errors import RunBudgetError, SessionReleaseError
from harness.service.observer import NullObserver
from harness.service.pool import SessionPool
from harness.service.recovery import Recovery, Step

AFTER_AN_ERROR = ["mark", "confirm", "wake", "invalidate", "reclaim", "collect", "rebuild", "neighbours"]
BUDGET = 0.05


class Steps(NullObserver):
    """Hears the steps, and lets a test wait for one."""

    def __init__(self):
        self.heard = []
        self.threads = []
        self.changed = threading.Condition()

    def recovery(self, slot, step):
        with self.changed:
            self.heard.append((slot, step))
            self.threads.append(threading.current_thread())
            self.changed.notify_all()

    def wait_for(self, slot, step, times=1):
        with self.changed:
            assert self.changed.wait_for(lambda: self.heard.count((slot, step)) >= times, GUARD), self.heard

    def of(self, number):
        return [step for slot, step in self.heard if slot == number]


@pytest.fixture
def steps():
    return Steps()


@pytest.fixture
def make(runtime, steps):
    made = []

    def pool(**config):
        made.append(SessionPool(runtime.open, ServiceConfig(**{"capacity": 8, "observer": steps, **config})))
        return made[-1]

    yield pool
    for gate in runtime.gates.values():
        gate.set()
    for each in made:
        try:
            each.close()
        except SessionReleaseError:
            assert runtime.close_error is not None


def test_a_run_over_its_budget_goes_through_every_step_in_order(runtime, make, steps):
    runtime.grain = Grain.NODE
    pool = make(run_budget=BUDGET)
    future = inside(runtime, pool)
    assert isinstance(future.exception(GUARD), RunBudgetError)
    assert runtime.interrupts[:1] == [0.0], "the runtime was asked before the client was told"
    steps.wait_for(0, "wake")
    assert steps.of(0) == ["mark", "ask", "isolate", "wake"]
    assert len(runtime.sessions) == 1
    runtime.let_go(0)
    assert value_of(pool.submit(task(1)).result(GUARD)) == 2.0
    assert len(runtime.sessions) == 2, "no second task on a session that was over its budget"
    steps.wait_for(0, "neighbours")
    assert steps.of(0)[4:] == ["confirm", "invalidate", "reclaim", "collect", "rebuild", "neighbours"]
    assert len(set(steps.threads)) == 2, "the clock's, then the worker's"


def test_what_cannot_be_interrupted_is_not_asked(runtime, make, steps):
    pool = make(run_budget=BUDGET)
    future = inside(runtime, pool)
    assert isinstance(future.exception(GUARD), RunBudgetError)
    runtime.let_go(0)
    steps.wait_for(0, "neighbours")
    assert "ask" not in steps.of(0)


def test_an_interrupt_that_hangs_keeps_the_worker_from_the_next_task(runtime, make, steps):
    asking, go_on = threading.Event(), threading.Event()

    def ask(_session):
        asking.set()
        assert go_on.wait(GUARD)

    runtime.grain, runtime.on_interrupt = Grain.NODE, ask
    pool = make(run_budget=BUDGET)
    future = inside(runtime, pool)
    assert asking.wait(GUARD)
    runtime.let_go(0)
    while runtime.sessions[0].inside is not None:
        threading.Event().wait(0.001)
    threading.Event().wait(BUDGET / 2)  # the worker waits for the interrupt now
    following = pool.submit(task(1))
    assert not future.done(), "who waits is woken after the runtime was asked"
    assert not following.done()
    assert steps.of(0) == ["mark"]
    go_on.set()
    assert isinstance(future.exception(GUARD), RunBudgetError)
    assert value_of(following.result(GUARD)) == 2.0
    threading.Event().wait(3 * BUDGET)
    assert len(runtime.interrupts) == 1, "a call that has returned is not asked again"


def test_an_interrupt_that_raises_hides_no_outcome(runtime, make):
    def refuse(_session):
        raise RunError("no")

    runtime.grain, runtime.on_interrupt = Grain.NODE, refuse
    pool = make(run_budget=BUDGET)
    future = inside(runtime, pool)
    assert isinstance(future.exception(GUARD), RunBudgetError)
    runtime.let_go(0)
    assert value_of(pool.submit(task(1)).result(GUARD)) == 2.0


def test_a_runtime_that_did_not_hear_is_asked_again_and_not_for_ever(runtime, make, steps):
    heard = threading.Semaphore(0)
    runtime.grain, runtime.on_interrupt = Grain.NODE, lambda _session: heard.release()
    pool = make(run_budget=BUDGET)
    future = inside(runtime, pool)
    assert isinstance(future.exception(GUARD), RunBudgetError)
    for _ in range(4):
        assert heard.acquire(timeout=GUARD)
    assert not heard.acquire(timeout=4 * BUDGET), "four times in all"
    runtime.let_go(0)
    assert value_of(pool.submit(task(1)).result(GUARD)) == 2.0
    assert steps.of(0).count("ask") == 1


def test_two_interrupts_are_never_under_way_at_once(runtime, make):
    asking, go_on = threading.Semaphore(0), threading.Event()

    def ask(_session):
        asking.release()
        if len(runtime.interrupts) == 2:
            assert go_on.wait(GUARD)

    runtime.grain, runtime.on_interrupt = Grain.NODE, ask
    pool = make(run_budget=BUDGET)
    inside(runtime, pool).exception(GUARD)
    for _ in range(2):
        assert asking.acquire(timeout=GUARD)
    assert not asking.acquire(timeout=4 * BUDGET), "the second has not arrived yet"
    runtime.let_go(0)
    following = pool.submit(task(1))
    with pytest.raises(TimeoutError):
        following.result(2 * BUDGET)
    go_on.set()
    assert value_of(following.result(GUARD)) == 2.0


def test_a_cancel_while_the_runtime_is_asked_wins(runtime, make):
    asking, go_on = threading.Event(), threading.Event()

    def ask(_session):
        asking.set()
        assert go_on.wait(GUARD)

    runtime.grain, runtime.on_interrupt = Grain.NODE, ask
    pool = make(run_budget=BUDGET)
    future = inside(runtime, pool)
    assert asking.wait(GUARD)
    assert future.cancel()
    assert future.cancelled()
    go_on.set()
    runtime.let_go(0)
    assert value_of(pool.submit(task(1)).result(GUARD)) == 2.0


def test_a_cancelled_run_that_stays_is_over_its_budget_all_the_same(runtime, make, steps):
    runtime.grain = Grain.NODE
    pool = make(run_budget=BUDGET)
    future = inside(runtime, pool)
    assert future.cancel()
    steps.wait_for(0, "wake")
    runtime.let_go(0)
    assert value_of(pool.submit(task(1)).result(GUARD)) == 2.0
    assert len(runtime.sessions) == 2


def test_a_health_check_may_vouch_for_a_session_that_was_over_its_budget(runtime, make, steps):
    asked = []

    def check(session):
        asked.append(session.number)
        return True

    pool = make(run_budget=BUDGET, health_check=check)
    future = inside(runtime, pool)
    future.exception(GUARD)
    runtime.let_go(0)
    assert value_of(pool.submit(task(1)).result(GUARD)) == 2.0
    assert len(runtime.sessions) == 1
    steps.wait_for(0, "neighbours")
    assert steps.of(0) == ["mark", "isolate", "wake", "confirm", "keep", "neighbours"]
    assert asked == [0]


def test_an_interrupted_run_in_budget_is_no_failure_of_its_session(runtime, make, steps):
    runtime.grain = Grain.NODE
    runtime.run_errors[0.0] = RunInterruptedError("as asked")
    pool = make(run_budget=GUARD)
    future = inside(runtime, pool)
    assert future.cancel()
    runtime.let_go(0)
    assert value_of(pool.submit(task(1)).result(GUARD)) == 2.0
    assert len(runtime.sessions) == 1
    assert steps.heard == []


@pytest.mark.parametrize("scope", [Scope.CONTEXT, Scope.PROCESS, Scope.DEVICE])
def test_an_error_that_reaches_further_than_its_request_forces_a_rebuild(runtime, make, steps, scope):
    runtime.run_errors[0.0] = RunError("gone", scope=scope)
    pool = make(health_check=lambda _session: True)
    assert isinstance(pool.submit(task(0)).exception(GUARD), RunError)
    assert value_of(pool.submit(task(1)).result(GUARD)) == 2.0
    assert len(runtime.sessions) == 2
    steps.wait_for(0, "neighbours")
    assert steps.of(0) == AFTER_AN_ERROR
    assert len(set(steps.threads)) == 1


@pytest.mark.parametrize("scope", [Scope.PROCESS, Scope.DEVICE])
def test_a_device_that_failed_has_idle_slots_rebuild_and_nobody_pays_for_it(runtime, make, steps, scope):
    pool = make(slots=2)
    runtime.run_errors[0.0] = RunError("gone", scope=scope)
    pool.submit(task(0)).exception(GUARD)
    steps.wait_for(0, "neighbours")
    steps.wait_for(1, "neighbours")
    assert len(runtime.sessions) == 4, "each slot rebuilt once"
    assert [value_of(pool.submit(task(n)).result(GUARD)) for n in (1, 2, 3)] == [2.0, 4.0, 6.0]
    assert len(runtime.sessions) == 4


@pytest.mark.parametrize("place", ["open", "check", "close"])
def test_a_device_that_fails_outside_of_a_run_has_idle_slots_rebuild_too(runtime, make, steps, place):
    gone = RunError("gone", scope=Scope.DEVICE)

    def check(_session):
        if place == "check":
            raise gone
        return False

    pool = make(slots=2, health_check=check)
    if place == "open":
        runtime.open_errors[2] = gone
    if place == "close":
        runtime.close_error = gone
    runtime.run_errors[0.0] = RunError("a failed run, which the check is asked about")
    pool.submit(task(0)).exception(GUARD)
    idle = 1 - runtime.sessions.index(next(each for each in runtime.sessions if each.ran_on))
    steps.wait_for(idle, "neighbours")
    assert "invalidate" in steps.of(idle), "the idle session is not looked at: nothing of before is good"
    assert not runtime.sessions[idle].ran_on
    if place != "close":  # a session that is not released is not replaced either
        assert value_of(pool.submit(task(1)).result(GUARD)) == 2.0


def test_a_session_that_waits_for_its_first_run_does_not_outlive_its_device(runtime, make):
    newer = FakeRuntime()
    pool = make(model_version="v1")
    inside(runtime, pool, 0)
    runtime.run_errors[1.0] = RunError("gone", scope=Scope.DEVICE)
    finds_out = pool.submit(task(1))
    switching = threading.Thread(target=lambda: pool.switch(newer.open, version="v2"))
    switching.start()
    while pool._crew.change is None:
        threading.Event().wait(0.001)
    runtime.let_go(0)  # the spare is opened between the two runs
    assert isinstance(finds_out.exception(GUARD), RunError)
    switching.join(GUARD)
    assert value_of(pool.submit(task(2)).result(GUARD)) == 4.0
    assert [bool(session.ran_on) for session in newer.sessions] == [False, True], "the first one was on the device, too"
    assert newer.breaches == []


def test_a_context_that_failed_is_no_affair_of_the_neighbours(runtime, make, steps):
    pool = make(slots=2)
    runtime.run_errors[0.0] = RunError("gone", scope=Scope.CONTEXT)
    pool.submit(task(0)).exception(GUARD)
    steps.wait_for(0, "neighbours") if steps.of(0) else steps.wait_for(1, "neighbours")
    pool.submit(task(1)).result(GUARD)
    assert len(runtime.sessions) == 3


def test_after_a_time_out_the_neighbours_ask_the_health_check_once(runtime, make, steps):
    asked = []

    def check(session):
        asked.append(session.number)
        return True

    pool = make(slots=2, run_budget=BUDGET, health_check=check)
    inside(runtime, pool).exception(GUARD)
    runtime.let_go(0)
    steps.wait_for(runtime_slot(steps), "neighbours")
    for n in range(1, 9):
        pool.submit(task(n)).result(GUARD)
    assert sorted(asked) in ([0, 1], [0], [1]), "who has not run since need not have asked"
    assert len(runtime.sessions) == 2


def runtime_slot(steps):
    with steps.changed:
        steps.changed.wait_for(lambda: steps.heard, GUARD)
    return steps.heard[0][0]


def test_what_is_known_is_collected(runtime, make, steps):
    runtime.run_errors[0.0] = RunError("secret text", scope=Scope.CONTEXT, code=700, dump="core-17")
    pool = make(events=64)
    future = pool.submit(task(0))
    future.exception(GUARD)
    steps.wait_for(0, "neighbours")
    (record,) = pool.recoveries()
    assert (record.slot, record.task_id, record.error) == (0, future.task_id, "RunError")
    assert (record.scope, record.code, record.dump) == (Scope.CONTEXT, 700, "core-17")
    assert [step.value for step, _ in record.timeline] == AFTER_AN_ERROR[:6]
    times = [at for _, at in record.timeline]
    assert times == sorted(times)
    assert "secret" not in repr(record)
    assert [incident.error for incident in pool.frozen()] == ["RunError"]
    assert [event.detail for event in pool.recent() if event.kind == "recovery"] == AFTER_AN_ERROR


def test_a_release_that_fails_reclaims_nothing(runtime, make, steps):
    runtime.run_errors[0.0] = RunError("gone", scope=Scope.CONTEXT)
    pool = make(slots=2)
    runtime.close_error = RunError("release")
    pool.submit(task(0)).exception(GUARD)
    slot = runtime_slot(steps)
    steps.wait_for(slot, "neighbours")
    assert steps.of(slot) == ["mark", "confirm", "wake", "invalidate", "collect", "neighbours"]
    assert value_of(pool.submit(task(1)).result(GUARD)) == 2.0


def machine():
    return Recovery(0, RunError("x"), None, lambda _slot, _step: None)


def walk(*names):
    recovery = machine()
    for name in names:
        recovery.reach(Step(name))


def test_the_machine_walks_both_ways_through():
    walk("mark", "ask", "isolate", "wake", "confirm", "invalidate", "reclaim", "collect", "rebuild", "neighbours")
    walk(*AFTER_AN_ERROR)
    walk("mark", "isolate", "wake", "confirm", "keep", "neighbours")


@pytest.mark.parametrize(
    "names",
    [
        ("ask",),
        ("mark", "wake"),
        ("mark", "isolate", "ask"),
        ("mark", "isolate", "wake", "invalidate"),
        ("mark", "confirm", "wake", "confirm"),
        ("mark", "confirm", "reclaim"),
        ("mark", "confirm", "invalidate", "rebuild"),
        ("mark", "confirm", "invalidate", "reclaim", "rebuild"),
        ("mark", "confirm", "invalidate", "reclaim", "collect", "rebuild", "rebuild"),
    ],
)
def test_no_step_is_left_out_or_taken_too_early_or_twice(names):
    with pytest.raises(AssertionError, match="recovery: "):
        walk(*names)
