import threading
import time
from concurrent.futures import wait

import pytest
from service_fakes import GUARD, task, value_of

from adapters.base import Grain
from harness.service.config import ServiceConfig
from harness.service.errors import ServiceClosedError
from harness.service.lifecycle import CloseBehaviour, ClosePolicy, CloseReason
from harness.service.observer import NullObserver
from harness.service.queue import SerialQueue

SOON = 0.03


class Reasons(NullObserver):
    def __init__(self):
        self.heard = []

    def closing(self, reason):
        self.heard.append(reason)

    def state(self, name):
        self.heard.append(name)


class Closing:
    """A queue whose worker is inside task 0, with two more waiting, and a thread that closes it."""

    def __init__(self, runtime, **config):
        self.runtime = runtime
        self.reasons = Reasons()
        self.queue = SerialQueue(runtime.open, ServiceConfig(capacity=8, observer=self.reasons, **config))
        runtime.hold(0)
        self.running = self.queue.submit(task(0))
        runtime.wait_inside(0)
        self.waiting = [self.queue.submit(task(n)) for n in (1, 2)]

    def close(self, **how):
        thread = threading.Thread(target=self.queue.close, kwargs=how)
        thread.start()
        return thread

    def let_go(self, thread):
        self.runtime.let_go(0)
        thread.join(GUARD)
        assert not thread.is_alive()
        assert self.queue.state == "closed"


def test_a_drain_with_a_deadline_aborts_when_it_is_over(runtime):
    closing = Closing(runtime)
    begun = time.monotonic()
    ran_on = []
    closing.waiting[0].add_done_callback(lambda _: ran_on.append(threading.current_thread().name))
    thread = closing.close(deadline=SOON)
    assert wait(closing.waiting, GUARD).not_done == set()
    assert time.monotonic() - begun >= SOON
    assert all(each.cancelled() for each in closing.waiting)
    assert not closing.running.done(), "what runs completes"
    closing.let_go(thread)
    assert value_of(closing.running.result(0)) == 0.0
    assert ran_on == ["SerialQueue-clock"]
    assert closing.queue._clock.threads == []


def test_a_drain_that_is_done_before_its_deadline_waits_for_nothing(runtime):
    closing = Closing(runtime)
    closing.runtime.let_go(0)
    begun = time.monotonic()
    closing.queue.close(deadline=GUARD)
    assert time.monotonic() - begun < GUARD / 2
    assert [value_of(each.result(0)) for each in closing.waiting] == [2.0, 4.0]


def test_the_earliest_of_several_deadlines_counts(runtime):
    closing = Closing(runtime)
    threads = [closing.close(deadline=GUARD), closing.close(deadline=SOON)]
    assert wait(closing.waiting, GUARD / 2).not_done == set()
    for thread in threads:
        closing.let_go(thread)


@pytest.mark.parametrize("reason", [CloseReason.PAGE_CLOSED, CloseReason.LOGGED_OUT])
def test_results_nobody_may_see_are_dropped(runtime, reason):
    runtime.grain = Grain.NODE
    closing = Closing(runtime)
    thread = closing.close(reason=reason)
    assert wait([closing.running, *closing.waiting], GUARD).not_done == set()
    assert [each.cancel_kind for each in (closing.running, *closing.waiting)] == ["running", "queued", "queued"]
    closing.let_go(thread)
    assert runtime.interrupts == [0.0]
    assert closing.queue.close_reason is reason
    assert closing.reasons.heard == ["accepting", reason.value, "draining", "closed"]


@pytest.mark.parametrize("reason", [CloseReason.MODEL_SWITCH, CloseReason.SHUTDOWN, CloseReason.BACKGROUND])
def test_other_reasons_drain(runtime, reason):
    closing = Closing(runtime)
    closing.let_go(closing.close(reason=reason))
    assert [value_of(each.result(0)) for each in (closing.running, *closing.waiting)] == [0.0, 2.0, 4.0]


def test_a_policy_maps_reasons_to_behaviour(runtime):
    policy = ClosePolicy(behaviours={CloseReason.BACKGROUND: CloseBehaviour(drain=False)})
    closing = Closing(runtime, close_policy=policy)
    closing.let_go(closing.close(reason=CloseReason.BACKGROUND))
    assert [each.cancelled() for each in (closing.running, *closing.waiting)] == [False, True, True]


def test_what_is_given_wins_over_the_policy(runtime):
    closing = Closing(runtime)
    closing.let_go(closing.close(drain=True, reason=CloseReason.PAGE_CLOSED))
    assert [value_of(each.result(0)) for each in closing.waiting] == [2.0, 4.0]


def test_the_first_reason_is_kept_and_a_second_close_can_only_hurry(runtime):
    closing = Closing(runtime)
    threads = [closing.close(reason=CloseReason.MODEL_SWITCH)]
    while closing.queue.close_reason is None:
        time.sleep(0.001)
    threads.append(closing.close(reason=CloseReason.PAGE_CLOSED))
    assert wait([closing.running, *closing.waiting], GUARD).not_done == set()
    for thread in threads:
        closing.let_go(thread)
    assert closing.queue.close_reason is CloseReason.MODEL_SWITCH
    assert closing.reasons.heard.count("draining") == 1


def test_a_bad_deadline_or_reason_is_refused_before_anything_is_closed(runtime):
    with SerialQueue(runtime.open, ServiceConfig(capacity=1)) as queue:
        with pytest.raises(ValueError, match="must not be negative"):
            queue.close(deadline=-1.0)
        with pytest.raises(ValueError, match="bored"):
            queue.close(reason="bored")
        assert queue.state == "accepting"


@pytest.mark.parametrize("where", ["worker", "canceller", "closer", "clock"])
def test_close_from_a_callback_on_every_thread_that_runs_them(runtime, where):
    closing = Closing(runtime)
    states, threads = [], []
    over = threading.Event()
    late = closing.queue.submit(task(5), deadline=SOON) if where == "clock" else closing.waiting[0]
    future = closing.running if where == "worker" else late

    def callback(_future):
        threads.append(threading.current_thread())
        if where in {"canceller", "closer"}:
            runtime.let_go(0)  # these wait until closing is done
        closing.queue.close(drain=False)
        states.append(closing.queue.state)
        over.set()

    future.add_done_callback(callback)
    {"worker": lambda: runtime.let_go(0), "canceller": future.cancel, "clock": lambda: None}.get(
        where, lambda: closing.queue.close(drain=False)
    )()
    assert over.wait(GUARD)
    runtime.let_go(0)
    closing.queue.close()
    assert states == ["draining" if where in {"worker", "clock"} else "closed"]
    own = closing.queue._crew.threads
    assert (threads[0] in own) == (where == "worker")
    assert all(each.done() for each in (closing.running, *closing.waiting))
    with pytest.raises(ServiceClosedError):
        closing.queue.submit(task(9))


def test_a_close_that_a_callback_breaks_still_closes(runtime):
    closing = Closing(runtime)

    def callback(_future):
        runtime.let_go(0)
        raise KeyboardInterrupt

    closing.waiting[0].add_done_callback(callback)
    called = []
    closing.waiting[1].add_done_callback(called.append)
    with pytest.raises(KeyboardInterrupt):
        closing.queue.close(drain=False)
    assert closing.queue.state == "closed"
    assert called == closing.waiting[1:], "one task's callback is not the next one's"
