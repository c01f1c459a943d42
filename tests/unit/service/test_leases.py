import gc
import random
import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor

import numpy as np
import pytest
from service_fakes import GUARD, FakeRuntime, FakeSession, value_of
from under_control import instrumented, swap

from adapters.base import Grain, RunError
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.service import copy_evidence
from harness.service.buffer_pool import BufferPool, BufferPoolError, NoBufferError
from harness.service.config import ServiceConfig
from harness.service.copy_evidence import NOT_OBSERVED, Slope, measure_copies, slope_of
from harness.service.errors import QueueFullError
from harness.service.leases import Check, Lease, LeaseViolationError, digest_of, submit_leased
from harness.service.queue import SerialQueue


def pool_of(number, size=1):
    return BufferPool([{"x": np.zeros(size, np.float32)} for _ in range(number)])


# -- the lease ---------------------------------------------------------------------------------------------------------


def test_a_lease_makes_the_producer_s_array_read_only_until_it_ends():
    array = np.arange(4.0)
    lease = Lease({"x": array})
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 9
    with pytest.raises(ValueError, match="read-only"):
        lease["x"][0] = 9
    assert np.shares_memory(lease["x"], array)
    assert lease.start()
    assert lease.finish() is None
    assert lease.over
    array[0] = 9
    assert (list(lease), len(lease)) == (["x"], 1)


def test_an_array_that_was_read_only_before_stays_so():
    array = np.arange(4.0)
    array.flags.writeable = False
    assert Lease({"x": array}).drop()
    assert not array.flags.writeable


@pytest.mark.parametrize("check", [Check.FULL, Check.SAMPLED])
def test_a_write_behind_the_lease_s_back_is_found_at_its_end(check):
    array = np.zeros(1_000_000, np.uint8)
    behind = array[:]
    lease = Lease({"x": array, "y": np.zeros(3)}, check=check)
    lease.start()
    behind[:] = 7
    violation = lease.finish()
    assert isinstance(violation, LeaseViolationError)
    assert str(violation) == "written to during the lease: 'x'"


def test_full_finds_one_byte_and_sampled_says_that_it_may_not():
    array = np.zeros(1_000_000, np.uint8)
    assert digest_of(array, Check.FLAGS) == b""
    before = {check: digest_of(array, check) for check in (Check.FULL, Check.SAMPLED)}
    array[70] = 1
    assert digest_of(array, Check.FULL) != before[Check.FULL]
    assert digest_of(array, Check.SAMPLED) == before[Check.SAMPLED], "between two pieces"
    array[0] = 1
    assert digest_of(array, Check.SAMPLED) != before[Check.SAMPLED]
    array[0] = 0
    array[-1] = 1
    assert digest_of(array, Check.SAMPLED) != before[Check.SAMPLED]


@pytest.mark.parametrize("dtype", [np.float16, np.int8, np.complex64, "<U4", "datetime64[ns]", bool])
@pytest.mark.parametrize("shape", [(), (0,), (3, 5), (40_000,)])
def test_every_kind_of_plain_array_has_a_digest(dtype, shape):
    array = np.zeros(shape, dtype)
    for check in (Check.FULL, Check.SAMPLED):
        assert len(digest_of(array, check)) == 16


def test_making_the_array_writable_again_is_a_violation_even_if_nothing_was_written():
    array = np.zeros(4)
    lease = Lease({"x": array}, check=Check.FLAGS)
    lease.start()
    array.flags.writeable = True
    assert isinstance(lease.finish(), LeaseViolationError)


@pytest.mark.parametrize("array", [np.zeros((4, 4))[:, ::2], np.array([object()])])
def test_what_a_runtime_would_copy_anyway_cannot_be_leased(array):
    good = np.zeros(3)
    with pytest.raises(ValueError, match="cannot be leased"):
        Lease({"good": good, "x": array})
    assert good.flags.writeable


def test_a_running_lease_ends_by_its_own_task_alone():
    ended = []
    lease = Lease({"x": np.zeros(3)}, ended=ended.append)
    assert lease.start()
    assert not lease.drop()
    assert (lease.over, ended) == (False, [])
    assert lease.finish() is None
    assert lease.drop()
    assert not lease.start(), "a lease that is over must not be run on"
    assert ended == [False]


# -- the pool ----------------------------------------------------------------------------------------------------------


def test_a_buffer_has_one_owner_and_comes_back_once():
    pool = pool_of(2)
    one, two = pool.take(), pool.take()
    assert one.number != two.number
    with pytest.raises(NoBufferError, match="in time"):
        pool.take(timeout=0)
    one.give_back()
    with pytest.raises(BufferPoolError, match="is not out"):
        one.give_back()
    again = pool.take()
    assert again.number == one.number
    with pytest.raises(BufferPoolError):
        one.give_back()
    with pytest.raises(BufferPoolError):
        one.lend()
    assert (pool.counters().taken, pool.counters().free) == (2, 0)


def test_a_buffer_of_another_pool_is_refused():
    with pytest.raises(BufferPoolError, match="another pool"):
        pool_of(1).give_back(pool_of(1).take())


def test_a_lent_buffer_returns_when_its_lease_ends_and_not_by_reference_count():
    pool = pool_of(1)
    buffer = pool.take()
    lease = buffer.lend()
    with pytest.raises(BufferPoolError, match="is lent"):
        buffer.give_back()
    lease.start()
    del buffer
    gc.collect()
    assert pool.counters().lent == 1
    assert lease.finish() is None
    assert pool.take(timeout=0).number == 0


def test_a_violated_buffer_is_retired_and_the_pool_says_so():
    pool = pool_of(2)
    buffer = pool.take()
    behind = buffer.arrays["x"][:]
    lease = buffer.lend()
    lease.start()
    behind[0] = 1
    assert lease.finish() is not None
    assert (pool.counters().retired, pool.counters().free) == (1, 1)
    other = pool.take(timeout=0)
    other.arrays["x"].flags.writeable = True
    lease = other.lend(Check.FLAGS)
    other.arrays["x"].flags.writeable = True
    lease.drop()
    with pytest.raises(NoBufferError, match="retired"):
        pool.take()


def test_a_buffer_that_cannot_be_lent_stays_the_taker_s():
    pool = BufferPool([{"x": np.zeros((4, 4))[:, ::2]}])
    buffer = pool.take()
    with pytest.raises(ValueError, match="cannot be leased"):
        buffer.lend()
    buffer.give_back()


def test_no_buffers_or_buffers_that_share_memory_are_refused():
    base = np.zeros(10)
    with pytest.raises(ValueError, match="at least one"):
        BufferPool([])
    with pytest.raises(ValueError, match="shares memory"):
        BufferPool([{"x": base[:6]}, {"x": base[5:]}])


def test_under_stress_no_buffer_has_two_owners():
    pool = pool_of(3)
    owners, breaches = {}, []

    def use(seed):
        chance = random.Random(seed)
        for _ in range(300):
            buffer = pool.take(timeout=GUARD)
            if owners.setdefault(buffer.number, seed) != seed:
                breaches.append(buffer.number)
            time.sleep(0)
            del owners[buffer.number]
            if chance.random() < 0.5:
                buffer.give_back()
            else:
                lease = buffer.lend(Check.FULL)
                lease.start()
                lease.finish()

    with ThreadPoolExecutor(6) as executor:
        list(executor.map(use, range(6)))
    assert breaches == []
    assert pool.counters().free == 3


# -- through the queue -------------------------------------------------------------------------------------------------


class Seeing(FakeRuntime):
    """Remembers the arrays that sessions were given."""

    def __init__(self):
        super().__init__()
        self.given = []

    def open(self, *, fallback=False):
        session = super().open(fallback=fallback)
        run = FakeSession.run

        def seeing(inputs):
            self.given.append(inputs["x"])
            return run(session, inputs)

        session.run = seeing
        return session


@pytest.fixture
def seeing():
    return Seeing()


def lend(pool, value, check=Check.FULL):
    buffer = pool.take(timeout=GUARD)
    buffer.arrays["x"][0] = value
    return buffer, buffer.lend(check)


def test_the_session_gets_the_producer_s_own_memory(seeing):
    pool = pool_of(1)
    with SerialQueue(seeing.open, ServiceConfig(capacity=2)) as queue:
        buffer, lease = lend(pool, 3)
        assert value_of(submit_leased(queue, lease).result(GUARD)) == 6.0
    assert np.shares_memory(seeing.given[0], buffer.arrays["x"])
    assert pool.counters().free == 1


def test_a_violation_fails_the_task_instead_of_delivering(seeing):
    pool = pool_of(2)
    seeing.hold(3)
    with SerialQueue(seeing.open, ServiceConfig(capacity=2)) as queue:
        buffer, lease = lend(pool, 3)
        behind = buffer.arrays["x"].base if buffer.arrays["x"].base is not None else buffer.arrays["x"]
        behind.flags.writeable = True
        future = submit_leased(queue, lease)
        seeing.wait_inside(3)
        behind[0] = 4
        seeing.let_go(3)
        with pytest.raises(LeaseViolationError):
            future.result(GUARD)
        _, next_lease = lend(pool, 5)
        assert value_of(submit_leased(queue, next_lease).result(GUARD)) == 10.0
    assert pool.counters().retired == 1


def test_a_failed_run_ends_its_lease(seeing):
    pool = pool_of(1)
    seeing.run_errors = {3.0: RunError("failed")}
    with SerialQueue(seeing.open, ServiceConfig(capacity=2)) as queue:
        with pytest.raises(RunError):
            submit_leased(queue, lend(pool, 3)[1]).result(GUARD)
        assert pool.take(timeout=0).number == 0


def test_a_cancel_while_it_runs_frees_no_buffer_before_the_call_has_returned(seeing):
    seeing.grain = Grain.NONE
    pool = pool_of(1)
    seeing.hold(3)
    queue = SerialQueue(seeing.open, ServiceConfig(capacity=2))
    buffer, lease = lend(pool, 3)
    future = submit_leased(queue, lease)
    seeing.wait_inside(3)
    assert future.cancel()
    with pytest.raises(CancelledError):
        future.result(GUARD)
    with pytest.raises(NoBufferError):
        pool.take(timeout=0.02)
    with pytest.raises(ValueError, match="read-only"):
        buffer.arrays["x"][0] = 9
    seeing.let_go(3)
    assert pool.take(timeout=GUARD).number == 0
    queue.close()


def test_a_task_that_never_starts_gives_its_buffer_back(seeing):
    pool = pool_of(3)
    seeing.hold(1)
    queue = SerialQueue(seeing.open, ServiceConfig(capacity=1))
    submit_leased(queue, lend(pool, 1)[1])
    seeing.wait_inside(1)
    waiting = submit_leased(queue, lend(pool, 2)[1])
    refused = lend(pool, 3)[1]
    with pytest.raises(QueueFullError):
        submit_leased(queue, refused)
    assert refused.over
    waiting.cancel()
    assert pool.counters().free == 2
    seeing.let_go(1)
    queue.close()
    assert pool.counters().free == 3


@pytest.mark.parametrize("name", ["numpy", "onnxruntime", "litert", "tflite"])
def test_every_runtime_runs_on_a_lease_and_a_violation_is_not_delivered(name):
    adapter = load_adapter(name)
    if not adapter.probe().importable:
        pytest.skip(f"{name} is not installed")
    model = resolve("builtin:affine", adapter.suffixes)

    def open_session(*, fallback=False):
        del fallback
        return adapter.open(model, adapter.default_delegate, {})

    pool = BufferPool([{"x": np.zeros((1, 8), np.float32)} for _ in range(2)])
    with SerialQueue(open_session, ServiceConfig(capacity=4)) as queue:
        buffer = pool.take()
        buffer.arrays["x"][:] = np.arange(8)
        answer = submit_leased(queue, buffer.lend()).result(GUARD)["y"]
        assert answer.tolist() == [[2.0 * each + 1 for each in range(8)]]
        buffer = pool.take()
        behind = buffer.arrays["x"][:]
        lease = buffer.lend()
        behind[:] = 5
        with pytest.raises(LeaseViolationError):
            submit_leased(queue, lease).result(GUARD)
    assert (pool.counters().free, pool.counters().retired) == (1, 1)


# -- the evidence about copies -----------------------------------------------------------------------------------------


COPIES = 0.25  # nanoseconds a byte


@pytest.fixture
def costs(monkeypatch):
    """Times as a model of the machine has them, so that no load on this one decides a test."""
    chance = random.Random(1)

    def set_costs(hand_over, copy=COPIES, noise=200.0):
        def took(operation, array):
            rate = copy if operation is np.copy else hand_over
            return 500 + rate * array.nbytes + noise * chance.random()

        monkeypatch.setattr(copy_evidence, "_took", took)

    return set_costs


def test_a_hand_over_of_the_same_memory_shows_no_explicit_copy(costs):
    costs(0.0)
    evidence = measure_copies(lambda array: array.view())
    assert (evidence.statement, evidence.same_handle) == ("no explicit copy", True)
    assert evidence.not_observed == NOT_OBSERVED
    assert evidence.hand_over.high < evidence.copy.low
    assert evidence.record()["copy"]["rounds"] == 15


def test_a_copy_is_said_to_be_one(costs):
    costs(COPIES)
    evidence = measure_copies(lambda array: array.copy())
    assert (evidence.statement, evidence.same_handle) == ("explicit copy", False)


def test_a_copy_behind_the_same_handle_is_not_called_zero_copy(costs):
    costs(COPIES)
    evidence = measure_copies(lambda array: array)
    assert (evidence.statement, evidence.same_handle) == ("undecided", True)
    assert "grows" in evidence.reason


def test_a_copy_of_a_part_is_not_called_zero_copy_either(costs):
    costs(COPIES / 5)
    assert measure_copies(lambda array: array).statement == "undecided"


def test_another_handle_without_growth_is_undecided(costs):
    costs(0.0)
    other = np.zeros(1)
    evidence = measure_copies(lambda _: other)
    assert (evidence.statement, evidence.same_handle) == ("undecided", False)


def test_noise_as_large_as_a_copy_decides_nothing(costs):
    costs(0.0, noise=5e6)
    assert measure_copies(lambda array: array).statement == "undecided"


def test_one_size_with_another_handle_is_enough_to_refuse_the_statement(costs):
    costs(0.0)
    evidence = measure_copies(lambda array: array.copy() if array.nbytes == 1 << 20 else array)
    assert (evidence.statement, evidence.same_handle) == ("undecided", False)


def test_on_the_real_clock_a_copy_grows_with_size():
    evidence = measure_copies(lambda array: array, sizes=(1 << 12, 1 << 20, 1 << 23))
    assert evidence.copy.median > 0
    assert evidence.same_handle
    assert evidence.statement in {"no explicit copy", "undecided"}


def test_a_lease_keeps_the_handle():
    def through_a_lease(array):
        lease = Lease({"x": array}, check=Check.FLAGS)
        received = lease["x"]
        lease.drop()
        return received

    assert measure_copies(through_a_lease, sizes=(16, 32, 64), rounds=6).same_handle


def test_the_interval_is_between_the_order_statistics_that_95_percent_need():
    assert slope_of(range(6)) == Slope(median=2.5, low=0, high=5, rounds=6)
    assert slope_of(range(15)) == Slope(median=7, low=3, high=11, rounds=15)
    assert slope_of(range(100)).low == 39


@pytest.mark.parametrize("wrong", [{"sizes": (1, 2)}, {"sizes": (5, 5, 5)}, {"rounds": 5}])
def test_too_little_evidence_is_refused(wrong):
    with pytest.raises(ValueError, match="three sizes and six rounds"):
        measure_copies(np.copy, **wrong)


# -- under control -----------------------------------------------------------------------------------------------------


def cancel_races_run(module):
    """A task's run races with its cancel, which drops the lease; the buffer's next owner must not overlap the run."""

    def program():
        array = np.zeros(1)
        inside, seen = [], []
        lease = module.Lease({"x": array}, check=module.Check.FLAGS, ended=lambda _: seen.append(bool(inside)))

        def worker():
            if lease.start():
                inside.append(1)
                time.sleep(0)
                inside.clear()
                lease.finish()

        threads = [threading.Thread(target=worker), threading.Thread(target=lease.drop)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return tuple(seen), lease.over, bool(array.flags.writeable)

    return program


IGNORES_THE_RUN = swap(("            if self._running or self._over:\n", "            if self._over:\n"))
ENDS_TWICE = swap((
    """        with self._lock:
            if self._running or self._over:
                return self._over
            self._over = True
        self._end()
        return True
""",
    """        if self._running or self._over:
            return self._over
        self._over = True
        self._end()
        return True
""",
))  # fmt: skip


def test_a_lease_that_a_cancel_ends_under_a_running_call_is_caught(search):
    found = search.results(cancel_races_run(instrumented("leases", IGNORES_THE_RUN)), 200)
    assert any(True in seen for seen, *_ in found)


def test_a_lease_that_decides_without_the_lock_is_caught(search):
    found = search.results(cancel_races_run(instrumented("leases", ENDS_TWICE)), 500)
    assert any(seen != (False,) for seen, *_ in found)


def test_ours_ends_once_and_never_under_a_running_call_in_2000_executions(search):
    found = search.results(cancel_races_run(instrumented("leases")), 2_000)
    assert set(found) == {((False,), True, True)}


def pool_program(module):
    def program():
        pool = module.BufferPool([{"x": np.zeros(1)}])
        owners, most = [], []

        def use():
            buffer = pool.take()
            owners.append(1)
            time.sleep(0)
            most.append(len(owners))
            owners.pop()
            buffer.give_back()

        threads = [threading.Thread(target=use) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return max(most), pool.counters().free

    return program


UNCONDITIONAL = swap((
    "            self._returned.wait_for(lambda: self._free or self._all_retired(), timeout)\n",
    "            if not self._free:\n                self._returned.wait(timeout)\n",
), (
    "            number = self._free.pop()\n",
    "            number = self._free[-1]\n            self._free.clear()\n",
), (
    "            if not self._free:\n                message",
    "            if False:\n                message",
))  # fmt: skip


def test_a_pool_that_waits_with_if_is_caught(search):
    module = instrumented("buffer_pool", UNCONDITIONAL)
    with pytest.raises(IndexError):
        search.results(pool_program(module), 300)


def test_ours_has_one_owner_at_a_time(search):
    assert set(search.results(pool_program(instrumented("buffer_pool")), 500)) == {(1, 1)}
