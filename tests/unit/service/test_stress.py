import random
import threading
from concurrent.futures import CancelledError, wait

import pytest
from service_fakes import GUARD, task, value_of

from adapters.base import Grain, RunError
from harness.service.config import ServiceConfig
from harness.service.errors import QueueFullError, ServiceClosedError
from harness.service.observer import NullObserver
from harness.service.pool import SessionPool

THREADS, TASKS = 8, 400


class Leases(NullObserver):
    def __init__(self):
        self.held = {}
        self.breaches = []

    def leased(self, slot, future):
        if slot in self.held:
            self.breaches.append(slot)
        self.held[slot] = future

    def returned(self, slot):
        del self.held[slot]


class Client(threading.Thread):
    """Submits distinct tasks, cancels a quarter of them, waits for some, and backs off when the queue is full."""

    def __init__(self, number, pool, futures):
        super().__init__()
        self.number, self.pool, self.futures = number, pool, futures
        self.random = random.Random(number)
        self.refused = 0

    def run(self):
        for n in range(TASKS):
            value = self.number * TASKS + n
            try:
                future = self.pool.submit(task(value))
            except QueueFullError:
                self.refused += 1
                wait([future for _, future, _ in self.futures[-4:]], GUARD)
                continue
            except ServiceClosedError:
                return
            answer = self.random.random() < 0.25 and future.cancel()
            self.futures.append((value, future, answer))
            if self.random.random() < 0.2:
                wait([future], GUARD)


def check(value, future, answer):
    assert future.done()
    assert answer in {False, future.cancelled()}
    if future.cancelled():
        assert future.cancel_kind is not None
        with pytest.raises(CancelledError):
            future.result(0)
    elif value % 50 == 49:
        assert isinstance(future.exception(0), RunError)
    else:
        assert value_of(future.result(0)) == 2.0 * value


@pytest.mark.parametrize("slots", [1, 3])
@pytest.mark.parametrize("drain", [True, False])
def test_every_accepted_task_ends_with_its_own_output(runtime, slots, drain):
    runtime.grain = Grain.NODE
    runtime.run_errors = {float(n): RunError("the run failed") for n in range(49, THREADS * TASKS, 50)}
    leases = Leases()
    pool = SessionPool(runtime.open, ServiceConfig(capacity=32, slots=slots, observer=leases))
    futures = []
    clients = [Client(number, pool, futures) for number in range(THREADS)]
    for client in clients:
        client.start()
    for client in clients[: THREADS // 2]:
        client.join(GUARD * 3)
    closers = [threading.Thread(target=pool.close, kwargs={"drain": drain}) for _ in range(2)]
    for closer in closers:
        closer.start()
    for thread in [*closers, *clients]:
        thread.join(GUARD * 3)
        assert not thread.is_alive()
    assert pool.counters().accepted == len(futures) > TASKS
    for each in futures:
        check(*each)
    kinds = {future.cancel_kind for _, future, _ in futures}
    assert {None, "queued"} <= kinds, "the stress did cancel"
    assert (leases.breaches, leases.held) == ([], {})
    started = list(runtime.order)
    assert len(started) == len(set(started)), "no task ran twice"
