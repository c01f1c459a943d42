import threading

import numpy as np
import pytest

from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.service.config import ServiceConfig
from harness.service.errors import ServiceClosedError
from harness.service.queue import SerialQueue
from harness.service.residency import Residents

X = {"x": np.arange(16, dtype=np.float32).reshape(1, 16)}
GUARD = 10.0


def opener():
    adapter = load_adapter("numpy")
    model = resolve("builtin:permutation", adapter.suffixes)
    return lambda *, fallback=False: adapter.open(model, adapter.default_delegate, {"fallback": fallback})


def make():
    return SerialQueue(opener(), ServiceConfig(capacity=4))


def test_clients_of_one_key_share_a_load_and_the_last_one_closes():
    residents = Residents()
    first, second = residents.client("model", make), residents.client("model", make)
    assert residents.loads() == {"model": 1}
    future = first.submit(X)
    first.close()
    assert future.result(GUARD)
    with pytest.raises(ServiceClosedError):
        first.submit(X)
    assert second.submit(X).result(GUARD)
    assert second.state == "accepting"
    second.close()
    second.close()
    assert second.state == "closed"


def test_whoever_comes_when_all_have_left_loads_again():
    residents = Residents()
    with residents.client("model", make):
        pass
    with residents.client("model", make) as again:
        assert again.submit(X).result(GUARD)
    assert residents.loads() == {"model": 2}


def test_other_keys_are_other_services():
    residents = Residents()
    with residents.client("one", make) as one, residents.client("other", make) as other:
        assert one.submit(X).result(GUARD)
        one.close()
        assert other.submit(X).result(GUARD)
    assert residents.loads() == {"one": 1, "other": 1}


def test_clients_that_come_first_together_load_once():
    residents, made, clients = Residents(), threading.Event(), []

    def slowly():
        assert made.wait(GUARD)
        return make()

    threads = [threading.Thread(target=lambda: clients.append(residents.client("model", slowly))) for _ in range(4)]
    for thread in threads:
        thread.start()
    made.set()
    for thread in threads:
        thread.join(GUARD)
    assert residents.loads() == {"model": 1}
    for client in clients:
        client.close()
    assert clients[0].state == "closed"


def test_a_model_that_does_not_load_is_tried_again_by_the_next_client():
    residents = Residents()

    def fail():
        message = "no such model"
        raise OSError(message)

    with pytest.raises(OSError, match="no such model"):
        residents.client("model", fail)
    with residents.client("model", make) as client:
        assert client.submit(X).result(GUARD)
