import threading
from concurrent.futures import wait

import pytest
from service_fakes import GUARD, task, value_of

from harness.service.config import ServiceConfig
from harness.service.errors import QueueFullError, ReplacedError, ServiceClosedError
from harness.service.observer import NullObserver
from harness.service.queue import SerialQueue
from harness.service.requests import OverflowPolicy, RequestClass


class Told(NullObserver):
    def __init__(self):
        self.heard = []

    def ended(self, future, how):
        self.heard.append((future.task_id, how))


@pytest.fixture
def told():
    return Told()


@pytest.fixture
def busy(runtime, told):
    """Makes a queue whose worker is inside task 0."""
    made = []

    def make(capacity, *classes):
        runtime.hold(0)
        queue = SerialQueue(runtime.open, ServiceConfig(capacity=capacity, classes=classes, observer=told))
        made.append(queue)
        queue.submit(task(0), request_class=next(iter(queue._line.lanes)))
        runtime.wait_inside(0)
        return queue

    yield make
    runtime.let_go(0)
    for queue in made:
        queue.close()


def values(futures):
    return [value_of(future.result(GUARD)) for future in futures]


def test_capacity_of_a_class_is_exact_and_within_the_total(busy):
    queue = busy(3, RequestClass(name="a", capacity=1), RequestClass(name="b", capacity=3))
    queue.submit(task(1), request_class="a")
    with pytest.raises(QueueFullError):
        queue.submit(task(2), request_class="a")
    for n in (3, 4):
        queue.submit(task(n), request_class="b")
    for name in ("a", "b", "default"):
        with pytest.raises(QueueFullError):
            queue.submit(task(5), request_class=name)
    assert queue.counters().waiting == 3


def test_a_refusal_says_when_to_try_again_once_a_run_has_ended(runtime, busy):
    queue = busy(1)
    queue.submit(task(1))
    with pytest.raises(QueueFullError) as before:
        queue.submit(task(2))
    assert before.value.retry_after is None, "no run has ended yet"
    runtime.hold(1)
    runtime.let_go(0)
    runtime.wait_inside(1)
    queue.submit(task(2))
    with pytest.raises(QueueFullError) as after:
        queue.submit(task(3))
    assert 0 < after.value.retry_after < GUARD
    runtime.let_go(1)


def test_replace_oldest_ends_the_oldest_of_its_class(runtime, busy, told):
    queue = busy(3, RequestClass(name="other"), RequestClass(overflow=OverflowPolicy.REPLACE_OLDEST))
    other = queue.submit(task(9), request_class="other")
    old, kept = queue.submit(task(1)), queue.submit(task(2))
    called = []
    old.add_done_callback(lambda _: called.append(threading.current_thread()))
    new = queue.submit(task(3))
    assert called == [threading.current_thread()], "the submitter that displaced a task calls back"
    with pytest.raises(ReplacedError) as caught:
        old.result(0)
    assert caught.value.outcome == "REPLACED"
    assert not old.cancel(), "it ended otherwise"
    assert not old.cancelled()
    assert told.heard == [(old.task_id, "REPLACED")]
    assert queue.counters().replaced == 1
    runtime.let_go(0)
    assert values([other, kept, new]) == [18.0, 4.0, 6.0]
    assert 1.0 not in runtime.order


def test_replace_oldest_does_not_displace_another_class(busy):
    queue = busy(1, RequestClass(name="other"), RequestClass(name="mine", overflow=OverflowPolicy.REPLACE_OLDEST))
    queue.submit(task(9), request_class="other")
    with pytest.raises(QueueFullError):
        queue.submit(task(1), request_class="mine")
    assert queue.counters().replaced == 0


def test_keep_latest_lets_one_wait_although_there_is_room(runtime, busy):
    queue = busy(8, RequestClass(overflow=OverflowPolicy.KEEP_LATEST))
    futures = [queue.submit(task(n)) for n in (1, 2, 3)]
    assert [type(each.exception(0)) for each in futures[:2]] == [ReplacedError, ReplacedError]
    assert queue.counters().waiting == 1
    runtime.let_go(0)
    assert value_of(futures[2].result(GUARD)) == 6.0


def test_equal_requests_share_one_run_and_nothing_else(runtime, busy):
    queue = busy(2, RequestClass(overflow=OverflowPolicy.COALESCE))
    first, joined = queue.submit(task(5), key="k"), queue.submit(task(5), key="k")
    queue.submit(task(1), key="other")
    full_and_joined = queue.submit(task(5), key="k")
    with pytest.raises(QueueFullError):
        queue.submit(task(6), key="new")
    assert len({each.task_id for each in (first, joined, full_and_joined)}) == 3
    assert first.cancel(), "one that gives up takes the run from nobody"
    runtime.let_go(0)
    outputs = [joined.result(GUARD)["y"], full_and_joined.result(GUARD)["y"]]
    assert [float(each[0]) for each in outputs] == [10.0, 10.0]
    assert not any(each.flags.writeable for each in outputs)
    queue.close()
    assert runtime.order.count(5.0) == 1


def test_a_run_is_dropped_when_all_its_callers_have_cancelled(runtime, busy):
    queue = busy(4, RequestClass(overflow=OverflowPolicy.COALESCE))
    futures = [queue.submit(task(5), key="k") for _ in range(3)]
    assert queue.counters().waiting == 1
    assert all(each.cancel() for each in futures)
    assert queue.counters().waiting == 0
    again = queue.submit(task(5), key="k")
    runtime.let_go(0)
    assert value_of(again.result(GUARD)) == 10.0
    assert runtime.order == [0.0, 5.0]


def test_a_run_under_way_is_not_joined(runtime, busy):
    queue = busy(4, RequestClass(overflow=OverflowPolicy.COALESCE))
    runtime.hold(5)
    running = queue.submit(task(5), key="k")
    runtime.let_go(0)
    runtime.wait_inside(5)
    later = queue.submit(task(5), key="k")
    runtime.let_go(5)
    assert values([running, later]) == [10.0, 10.0]
    assert runtime.order.count(5.0) == 2


def test_requests_without_a_key_are_never_shared(runtime, busy):
    queue = busy(4, RequestClass(overflow=OverflowPolicy.COALESCE))
    futures = [queue.submit(task(5)) for _ in range(2)]
    assert queue.counters().waiting == 2
    runtime.let_go(0)
    assert values(futures) == [10.0, 10.0]


def test_a_blocked_client_gets_the_next_place(runtime, busy):
    queue = busy(1, RequestClass(overflow=OverflowPolicy.BLOCK))
    waiting = queue.submit(task(1))
    accepted = []
    client = threading.Thread(target=lambda: accepted.append(queue.submit(task(2))))
    client.start()
    client.join(0.05)
    assert client.is_alive()
    assert waiting.cancel()
    client.join(GUARD)
    runtime.let_go(0)
    assert values(accepted) == [4.0]


@pytest.mark.parametrize("given", [{}, {"timeout": 0.02}])
def test_a_blocked_client_is_refused_when_its_time_is_over(busy, given):
    queue = busy(1, RequestClass(overflow=OverflowPolicy.BLOCK, block_seconds=GUARD if given else 0.02))
    queue.submit(task(1))
    with pytest.raises(QueueFullError):
        queue.submit(task(2), **given)
    assert not queue._admission._somebody_blocked


def test_close_wakes_a_blocked_client(runtime, busy):
    queue = busy(1, RequestClass(overflow=OverflowPolicy.BLOCK))
    waiting = queue.submit(task(1))
    errors = []

    def client():
        try:
            queue.submit(task(2))
        except ServiceClosedError as error:
            errors.append(error)

    threads = [threading.Thread(target=client) for _ in range(3)]
    for thread in threads:
        thread.start()
    while queue._admission._somebody_blocked < 3:
        wait([waiting], 0.001)
    closer = threading.Thread(target=queue.close)
    closer.start()
    for thread in threads:
        thread.join(GUARD)
    assert len(errors) == 3
    runtime.let_go(0)
    closer.join(GUARD)
    assert value_of(waiting.result(0)) == 2.0


def test_a_callback_of_the_service_is_refused_instead_of_blocked(runtime, busy):
    queue = busy(1, RequestClass(overflow=OverflowPolicy.BLOCK))
    seen = []
    over = threading.Event()

    def callback(_future):
        try:
            queue.submit(task(3))
            queue.submit(task(4))
        except QueueFullError:
            seen.append("refused")
        over.set()

    runtime.hold(1)
    first = queue.submit(task(1))
    first.add_done_callback(callback)
    runtime.let_go(0)
    runtime.wait_inside(1)
    runtime.let_go(1)
    assert over.wait(GUARD)
    assert seen == ["refused"], "the worker would have waited for itself"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"request_class": "none"}, "no request class 'none': there are default"),
        ({"deadline": 0}, "a deadline must be above 0"),
        ({"timeout": 1.0}, "a time-out is for a class that blocks"),
    ],
)
def test_options_that_the_class_does_not_have_are_named(busy, options, says):
    queue = busy(4)
    with pytest.raises(ValueError, match=says):
        queue.submit(task(1), **options)
    assert queue.counters().accepted == 1


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"name": ""}, "needs a name"),
        ({"capacity": 0}, "capacity must be at least 1"),
        ({"deadline": 0}, "deadline must be above 0"),
        ({"block_seconds": -1}, "block_seconds must be above 0"),
        ({"weight": 0}, "weight must be above 0"),
        ({"floor": 1.5}, "floor must be from 0 to 1"),
        ({"overflow": "drop"}, "drop"),
        ({"journal": True, "deadline": 1.0}, "must finish"),
        ({"journal": True, "overflow": OverflowPolicy.KEEP_LATEST}, "must finish"),
    ],
)
def test_a_bad_class_is_named(values, says):
    with pytest.raises(ValueError, match=says):
        RequestClass(**values)


def test_what_was_submitted_comes_back_on_the_future(runtime):
    with SerialQueue(runtime.open, ServiceConfig(capacity=4, classes=(RequestClass(name="frame"),))) as queue:
        first = queue.submit(task(1), request_class="frame", context=7)
        again = queue.submit(task(1), retry_of=first)
    assert (first.task_id, first.request_class, first.context, first.retry_of) == ("n1", "frame", 7, None)
    assert (again.task_id, again.request_class, again.context, again.retry_of) == ("n2", "default", None, "n1")
