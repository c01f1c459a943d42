import itertools
import random

import pytest
from service_fakes import GUARD, task

from harness.service.config import ServiceConfig
from harness.service.floors import reserve
from harness.service.pool import SessionPool
from harness.service.requests import Ordering, RequestClass


def order_of(runtime, submits, classes=(), ordering=Ordering.FIFO):
    """The values in the order in which they start, all submitted while the one worker is inside another task."""
    runtime.hold(-1)
    config = ServiceConfig(capacity=len(submits) + 1, classes=classes, ordering=ordering)
    with SessionPool(runtime.open, config) as pool:
        pool.submit(task(-1))
        runtime.wait_inside(-1)
        futures = [pool.submit(task(value), **options) for value, options in submits]
        runtime.let_go(-1)
        for future in futures:
            future.result(GUARD)
    return [int(value) for value in runtime.order[1:]]


def test_first_in_first_out_across_classes(runtime):
    classes = (RequestClass(name="a", priority=5), RequestClass(name="b"))
    submits = [(n, {"request_class": "ab"[n % 2], "priority": n}) for n in range(9)]
    assert order_of(runtime, submits, classes) == list(range(9))


def test_priority_highest_first_and_fifo_among_equals(runtime):
    classes = (RequestClass(name="high", priority=5), RequestClass(name="low", priority=-1))
    submits = [
        (0, {"request_class": "low"}),
        (1, {}),
        (2, {"request_class": "high"}),
        (3, {"priority": 9}),
        (4, {"request_class": "high"}),
        (5, {"request_class": "low", "priority": 5}),
        (6, {}),
    ]
    assert order_of(runtime, submits, classes, Ordering.PRIORITY) == [3, 2, 4, 5, 1, 6, 0]


def test_the_earliest_deadline_first_and_those_without_last(runtime):
    submits = [(0, {}), (1, {"deadline": 90.0}), (2, {"deadline": 50.0}), (3, {}), (4, {"deadline": 70.0})]
    assert order_of(runtime, submits, ordering=Ordering.EARLIEST_DEADLINE) == [2, 4, 1, 0, 3]


def test_shares_follow_the_weights(runtime):
    classes = (RequestClass(name="three", weight=3.0), RequestClass(name="one"))
    submits = [(100 * (n % 2) + n, {"request_class": "three" if n % 2 else "one"}) for n in range(80)]
    order = order_of(runtime, submits, classes, Ordering.FAIR_SHARE)
    for window in range(0, 40, 4):
        assert sum(value >= 100 for value in order[window : window + 4]) == 3
    assert [value for value in order if value >= 100] == sorted(value for value in order if value >= 100)


def test_who_had_nothing_waiting_has_saved_nothing_up(runtime):
    classes = (RequestClass(name="a"), RequestClass(name="b"))
    config = ServiceConfig(capacity=64, classes=classes, ordering=Ordering.FAIR_SHARE)
    with SessionPool(runtime.open, config) as pool:
        for n in range(40):
            pool.submit(task(n), request_class="a").result(GUARD)
        runtime.hold(99)
        pool.submit(task(99), request_class="a")
        runtime.wait_inside(99)
        futures = [pool.submit(task(100 * (1 + n % 2) + n), request_class="ab"[n % 2]) for n in range(20)]
        runtime.let_go(99)
        for future in futures:
            future.result(GUARD)
    after = [value >= 200 for value in runtime.order[41:]]
    assert all(sum(after[n : n + 4]) in {1, 2, 3} for n in range(16)), after


@pytest.mark.parametrize("ordering", [Ordering.PRIORITY, Ordering.EARLIEST_DEADLINE, Ordering.FAIR_SHARE])
def test_a_floor_is_kept_in_every_window(runtime, ordering):
    classes = (
        RequestClass(name="voice", floor=0.25, priority=-9, weight=0.001),
        RequestClass(name="batch", priority=9, deadline=60.0),
    )
    submits = [(n, {"request_class": "batch"}) for n in range(40)]
    submits += [(100 + n, {"request_class": "voice"}) for n in range(10)]
    order = order_of(runtime, submits, classes, ordering)
    last = order.index(109)
    for start in range(last - 3):
        assert any(value >= 100 for value in order[start : start + 4]), order
    assert [value for value in order if value < 100] == list(range(40)), "an unused start is anybody's"


def test_a_priority_lane_forgets_tasks_that_left(runtime):
    runtime.hold(0)
    with SessionPool(runtime.open, ServiceConfig(capacity=4, ordering=Ordering.PRIORITY)) as pool:
        pool.submit(task(0))
        runtime.wait_inside(0)
        for n in range(1000):
            assert pool.submit(task(1), priority=n % 7).cancel()
        assert len(pool._line.lanes["default"]._ranked) < 70
        kept = pool.submit(task(2), priority=-1)
        runtime.let_go(0)
        kept.result(GUARD)
    assert runtime.order == [0.0, 2.0]


@pytest.mark.parametrize("floors", [[0.5], [0.1], [0.5, 0.5], [0.25, 0.5, 0.2], [0.3, 0.3], [1.0], [0.5, 0.0, 1 / 3]])
def test_reserved_starts_never_meet(floors):
    reserved = reserve(floors)
    for floor, (window, remainder) in zip(floors, reserved, strict=True):
        if floor:
            assert 1 <= window <= 1 / floor
            assert 0 <= remainder < window
        else:
            assert window == 0
    claims = [{n for n in range(2520) if n % window == rest} for window, rest in reserved if window]
    for one, other in itertools.combinations(claims, 2):
        assert not one & other


def test_floors_that_ask_for_more_than_there_is_are_refused():
    with pytest.raises(ValueError, match="more than every start"):
        ServiceConfig(capacity=1, classes=(RequestClass(name="a", floor=0.6), RequestClass(name="b", floor=0.6)))


def test_two_classes_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two request classes of one name"):
        ServiceConfig(capacity=1, classes=(RequestClass(name="a"), RequestClass(name="a")))


@pytest.mark.parametrize("seed", range(5))
def test_any_mixture_of_priorities_comes_out_sorted(runtime, seed):
    chance = random.Random(seed)
    priorities = [chance.randrange(4) for _ in range(40)]
    submits = [(n, {"priority": priority}) for n, priority in enumerate(priorities)]
    order = order_of(runtime, submits, ordering=Ordering.PRIORITY)
    assert order == sorted(range(40), key=lambda n: (-priorities[n], n))
