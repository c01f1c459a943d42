import asyncio
import collections
import types

import numpy as np
import pytest
from service_fakes import GUARD, FakeCall, FakeRuntime, FakeSession, inside, task, value_of

from adapters.base import Grain, Session
from harness.service.aio import AsyncService
from harness.service.buffer_pool import BufferPool
from harness.service.built_in import pool, queue
from harness.service.capacity_estimate import CapacityEstimate
from harness.service.config import ServiceConfig
from harness.service.gated_service import GatedConfig
from harness.service.journal import FileJournal
from harness.service.leases import Check, submit_leased
from harness.service.memory_gate import GateConfig
from harness.service.outputs import for_one_caller, immutable_outputs
from harness.service.pipelined import PipelinedQueue
from harness.service.queue import SerialQueue
from harness.service.requests import OverflowPolicy, RequestClass
from harness.service.residency import ResidentConfig, Residents

KEPT = np.zeros(1, np.float32)
"""What a session keeps between its runs."""


def is_read_only(array):
    with pytest.raises(ValueError, match="read-only"):
        array[...] = 9
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        array.flags.writeable = True
    return True


def address(array):
    return array.__array_interface__["data"][0]


# -- what is made of a run's outputs -----------------------------------------------------------------------------------


def test_an_array_of_its_own_is_not_copied():
    where = []

    def run():
        array = np.arange(6.0)
        where.append(address(array))
        return {"y": array}

    outputs = immutable_outputs(run())
    assert address(outputs["y"]) == where[0]
    assert is_read_only(outputs["y"])


class Wrapped:
    """Memory of somebody else's, as through DLPack or the buffer protocol."""

    def __init__(self):
        self.array = np.arange(6.0)
        self.__array_interface__ = self.array.__array_interface__


SHARED = np.arange(6.0)
WRAPPED = Wrapped()


FOREIGN = {
    "a view": lambda: SHARED[:3],
    "every second value": lambda: SHARED[::2],
    "a view of another shape": lambda: SHARED.reshape(2, 3),
    "what the session keeps": lambda: SHARED,
    "a view without dimensions": lambda: SHARED[0:1].reshape(()),
    "memory from elsewhere": lambda: np.asarray(WRAPPED),
    "DLPack": lambda: np.from_dlpack(SHARED),
    "a buffer": lambda: np.frombuffer(memoryview(SHARED)),
    "a matrix": lambda: SHARED.reshape(2, 3).view(np.matrix),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_memory_that_somebody_else_can_write_to_is_copied(what):
    given = FOREIGN[what]()
    outputs = immutable_outputs({"y": FOREIGN[what]()})
    expected = given.copy()
    assert not np.shares_memory(outputs["y"], given)
    assert (type(outputs["y"]), outputs["y"].dtype, outputs["y"].shape) == (type(given), given.dtype, given.shape)
    for memory in (SHARED, WRAPPED.array):
        memory[:] = -1
    assert (outputs["y"] == expected).all()
    for memory in (SHARED, WRAPPED.array):
        memory[:] = range(6)
    assert is_read_only(outputs["y"])


def test_a_mapped_file_is_copied(tmp_path):
    mapped = np.memmap(tmp_path / "file", np.float64, "w+", shape=(6,))
    outputs = immutable_outputs({"y": mapped, "z": np.asarray(mapped)})
    mapped[:] = 7
    assert not outputs["y"].any()
    assert not outputs["z"].any()
    assert is_read_only(outputs["y"])


def test_a_session_that_says_so_is_believed():
    wrapped = Wrapped()
    outputs = immutable_outputs({"y": np.asarray(wrapped)}, fresh=True)
    assert np.shares_memory(outputs["y"], wrapped.array)
    assert is_read_only(outputs["y"])


def test_a_dictionary_that_the_session_keeps_is_not_the_callers():
    kept = {"y": np.zeros(3)}
    outputs = immutable_outputs(kept)
    kept["y"][:] = 1
    assert not outputs["y"].any()
    assert kept["y"].flags.writeable, "it is the session's own"
    assert outputs is not kept


ODD = {
    "no dimensions": np.array(3.0),
    "empty": np.zeros((0, 4)),
    "text": np.array(["a", "b"]),
    "objects": np.array([None, "x"], dtype=object),
    "structured": np.zeros(3, dtype=[("a", "i4"), ("b", "f8")]),
    "Fortran order": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "big endian": np.arange(3, dtype=">i4"),
    "read-only already": np.frombuffer(b"12345678", np.uint8),
    "a record array": np.zeros(3, dtype=[("a", "i4")]).view(np.recarray),
}


@pytest.mark.parametrize("what", ODD)
def test_any_array_is_delivered_as_what_it_is(what):
    array = ODD[what]
    outputs = immutable_outputs({"y": array})
    got = outputs["y"]
    assert (type(got), got.dtype, got.shape) == (type(array), array.dtype, array.shape)
    assert got.flags.f_contiguous == array.flags.f_contiguous
    assert got.tolist() == array.tolist()
    assert not got.flags.writeable


def test_one_array_under_two_names_is_two():
    array = np.zeros(3)
    outputs = immutable_outputs({"a": array, "b": array})
    assert not np.shares_memory(outputs["a"], outputs["b"])


def test_a_mask_is_each_callers_own():
    masked = np.ma.masked_array([1.0, 2.0], mask=[False, True])
    outputs = immutable_outputs({"y": masked})
    one, other = for_one_caller(outputs)["y"], for_one_caller(outputs)["y"]
    assert one.mask.tolist() == other.mask.tolist() == [False, True]
    one.mask[0] = True
    assert other.mask.tolist() == [False, True]


def test_callers_share_the_memory_and_not_the_dictionary():
    outputs = immutable_outputs({"y": np.zeros(3), "note": "as it is"})
    one, other = for_one_caller(outputs), for_one_caller(outputs)
    assert one["y"] is other["y"]
    del one["y"]
    assert other.keys() == outputs.keys() == {"y", "note"}


@pytest.mark.parametrize("odd", [None, [np.zeros(1)], np.zeros(1), "text", 7])
def test_what_is_no_mapping_is_passed_on(odd):
    assert immutable_outputs(odd) is odd
    assert for_one_caller(odd) is odd


@pytest.mark.parametrize("kind", [types.MappingProxyType, collections.OrderedDict, collections.ChainMap])
def test_any_mapping_becomes_a_dictionary(kind):
    outputs = immutable_outputs(kind({"y": np.zeros(3), "n": 3}))
    assert type(outputs) is dict
    assert is_read_only(outputs["y"])
    assert outputs["n"] == 3


# -- what services deliver ---------------------------------------------------------------------------------------------


class KeepingCall(FakeCall):
    """Gives out views of the session's own memory, which the next run overwrites."""

    def fetch(self):
        KEPT[:] = self.inputs["x"] * 2
        return {"y": KEPT[:]}


class KeepingSession(FakeSession):
    def call(self, inputs):
        return KeepingCall(self, inputs)


class KeepingRuntime(FakeRuntime):
    def open(self, *, fallback=False):
        del fallback
        session = KeepingSession(self, len(self.sessions), "fast")
        self.sessions.append(session)
        return session


@pytest.fixture
def keeping():
    made = KeepingRuntime()
    yield made
    assert all(session.closes == 1 for session in made.sessions)


GATE = GateConfig(estimate=CapacityEstimate(weights=0, base=1, per_unit=1, reserve=0), most_live=4)
SERVICES = {
    "queue": lambda opener: queue(opener, ServiceConfig(capacity=4)),
    "pool": lambda opener: pool(opener, ServiceConfig(capacity=4, slots=1)),
    "gated": lambda opener: queue(opener, GatedConfig(capacity=4, gate=GATE)),
    "resident": lambda opener: queue(opener, ResidentConfig(capacity=4, residents=Residents(), model_key="m")),
    "pipeline": lambda opener: PipelinedQueue(opener, ServiceConfig(capacity=4)),
}


@pytest.mark.parametrize("kind", SERVICES)
def test_a_delivered_array_is_the_tasks_own_and_read_only(keeping, kind):
    service = SERVICES[kind](keeping.open)
    kept = []
    for value in (1, 2, 3):
        kept.append(service.submit(task(value)).result(GUARD))
        assert is_read_only(kept[-1]["y"])
    service.close()
    assert [value_of(outputs) for outputs in kept] == [2.0, 4.0, 6.0]


def test_so_is_one_of_the_asyncio_front(keeping):
    async def main():
        async with AsyncService(SerialQueue(keeping.open, ServiceConfig(capacity=4))) as front:
            return [await front.submit(task(value)) for value in (1, 2)]

    kept = asyncio.run(main())
    assert [value_of(outputs) for outputs in kept] == [2.0, 4.0]
    assert all(is_read_only(outputs["y"]) for outputs in kept)


def test_so_is_one_that_must_finish(keeping, tmp_path):
    journal = FileJournal(tmp_path / "journal")
    classes = (RequestClass(journal=True),)
    with SerialQueue(keeping.open, ServiceConfig(capacity=4, classes=classes, journal=journal)) as service:
        kept = [service.submit(task(value), payload_ref=str(value)).result(GUARD) for value in (1, 2)]
    journal.close()
    assert [value_of(outputs) for outputs in kept] == [2.0, 4.0]
    assert all(is_read_only(outputs["y"]) for outputs in kept)


def test_callers_that_share_a_run_share_memory_that_none_of_them_can_change(runtime, pools):
    service = pools(slots=1, classes=(RequestClass(overflow=OverflowPolicy.COALESCE),))
    running = inside(runtime, service)
    sharing = [service.submit(task(4), key="equal") for _ in range(3)]
    runtime.let_go(0)
    results = [future.result(GUARD) for future in (running, *sharing)]
    assert all(is_read_only(outputs["y"]) for outputs in results)
    assert np.shares_memory(results[1]["y"], results[3]["y"])
    results[1].clear()
    assert [value_of(outputs) for outputs in results[2:]] == [8.0, 8.0]


def test_an_output_that_is_the_input_outlives_its_lease(runtime, monkeypatch):
    monkeypatch.setattr(FakeCall, "fetch", lambda call: {"y": call.inputs["x"]})
    buffers = BufferPool([task(1)])
    with SerialQueue(runtime.open, ServiceConfig(capacity=4)) as service:
        outputs = submit_leased(service, buffers.take().lend(Check.FULL)).result(GUARD)
        buffers.take().arrays["x"][:] = 7
        assert value_of(outputs) == 1.0
        assert is_read_only(outputs["y"])
        private = service.submit(task(3)).result(GUARD)
        assert is_read_only(private["y"])


@pytest.mark.parametrize("fresh", [True, False])
def test_a_session_that_can_be_interrupted_has_its_outputs_passed_on(pools, runtime, monkeypatch, fresh):
    where = []

    def fetch(call):
        call.kept = Wrapped()
        where.append(address(call.kept.array))
        return {"y": np.asarray(call.kept)}

    runtime.grain = Grain.NODE
    monkeypatch.setattr(FakeCall, "fetch", fetch)
    monkeypatch.setattr(FakeSession, "run", Session.run)
    monkeypatch.setattr(FakeSession, "fresh_outputs", fresh)
    outputs = pools(slots=1).submit(task(1)).result(GUARD)
    assert (address(outputs["y"]) == where[0]) == fresh
    assert is_read_only(outputs["y"])


ANYTHING = {"a list": [1], "nothing": None, "a number": 3, "strange values": {"y": [1, 2], "z": None}}


@pytest.mark.parametrize("what", ANYTHING)
def test_a_session_that_breaks_its_contract_ends_no_worker(runtime, pools, monkeypatch, what):
    service = pools(slots=1, classes=(RequestClass(overflow=OverflowPolicy.COALESCE),))
    running = inside(runtime, service)
    sharing = [service.submit(task(4), key="equal") for _ in range(2)]
    monkeypatch.setattr(FakeCall, "fetch", lambda _: ANYTHING[what])
    runtime.let_go(0)
    assert [future.result(GUARD) for future in (running, *sharing)] == 3 * [ANYTHING[what]]
    monkeypatch.undo()
    assert value_of(service.submit(task(1)).result(GUARD)) == 2.0


class Raising(collections.UserDict):
    def __iter__(self):
        raise RuntimeError("strange outputs")


def test_outputs_that_cannot_be_looked_at_fail_their_task_alone(pools, monkeypatch):
    service = pools(slots=1)
    monkeypatch.setattr(FakeCall, "fetch", lambda _: Raising())
    with pytest.raises(RuntimeError, match="strange outputs"):
        service.submit(task(1)).result(GUARD)
    monkeypatch.undo()
    assert value_of(service.submit(task(1)).result(GUARD)) == 2.0
