import itertools
import random
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait

import numpy as np
import pytest
from service_fakes import GUARD, task, value_of
from under_control import instrumented, swap

from harness.service import memory_gate
from harness.service.capacity_estimate import CapacityEstimate
from harness.service.config import ServiceConfig
from harness.service.errors import QueueFullError
from harness.service.gated_service import GatedService, TicketObserver, bytes_of
from harness.service.memory_gate import GateConfig, MemoryGate, MemoryPressureError
from harness.service.memory_source import CgroupMemory, MemoryEvents, MemoryReading, ProcessMemory, find_memory_source
from harness.service.observer import NullObserver, Observer
from harness.service.pool import SessionPool
from harness.service.requests import OverflowPolicy, RequestClass

ESTIMATE = CapacityEstimate(weights=100, base=10, per_unit=1, reserve=0)


class Figures:
    """A source that says what the test sets."""

    def __init__(self, used=100, limit=1000, **more):
        self.reading = MemoryReading(source="test", used=used, limit=limit, **more)
        self.reads = 0

    def set(self, used, **more):
        self.reading = MemoryReading(source="test", used=used, limit=self.reading.limit, **more)

    def read(self):
        self.reads += 1
        return self.reading


def gate(source, module=memory_gate, **changes):
    settings = {"estimate": ESTIMATE, "most_live": 8, "low": 0.5, "high": 0.9, "margin": 0.1, "period": 0.0, **changes}
    return module.MemoryGate(module.GateConfig(**settings), source)


# -- where the figures come from ---------------------------------------------------------------------------------------


def cgroup(folder, current, *, high="max", maximum="max", inactive=None, events=""):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.current").write_text(f"{current}\n")
    (folder / "memory.high").write_text(f"{high}\n")
    (folder / "memory.max").write_text(f"{maximum}\n")
    (folder / "memory.events").write_text(events)
    if inactive is not None:
        (folder / "memory.stat").write_text(f"anon 5\ninactive_file {inactive}\nactive_file 7\n")


def proc(folder, line="0::/app/worker", statm="500 25 3 1 0 9 0\n"):
    folder.mkdir(exist_ok=True)
    (folder / "cgroup").write_text(f"12:cpu:/elsewhere\n{line}\n")
    (folder / "statm").write_text(statm)
    return folder


def test_the_own_cgroup_is_found_and_read(tmp_path):
    own = tmp_path / "fs" / "app" / "worker"
    events = "low 0\nhigh 4\nmax 3\noom 2\noom_kill 1\noom_group_kill 0\n"
    cgroup(own, 700, high="900", maximum="1000", inactive=100, events=events)
    reading = find_memory_source(tmp_path / "fs", proc(tmp_path / "proc")).read()
    assert (reading.used, reading.limit, reading.is_peak) == (600, 900, False)
    assert reading.source == "cgroup v2"
    assert reading.events == MemoryEvents(high=4, max=3, oom=2, oom_kill=1)


def test_a_parent_s_limit_counts_where_it_is_nearer_and_its_events_do_not(tmp_path):
    cgroup(tmp_path / "app" / "worker", 300, maximum="1000", events="oom_kill 1\n")
    cgroup(tmp_path / "app", 950, maximum="1000", events="oom_kill 7\n")
    reading = CgroupMemory(tmp_path / "app" / "worker", tmp_path).read()
    assert (reading.used, reading.limit) == (950, 1000)
    assert reading.events.oom_kill == 1, "a neighbour's death is not ours"
    cgroup(tmp_path / "app", 950, maximum="max")
    assert CgroupMemory(tmp_path / "app" / "worker", tmp_path).read().used == 300


def test_no_limit_is_not_known_and_a_missing_stat_takes_nothing_off(tmp_path):
    cgroup(tmp_path / "app", 300)
    reading = CgroupMemory(tmp_path / "app", tmp_path).read()
    assert (reading.used, reading.limit) == (300, None)


@pytest.mark.parametrize("line", ["0::/", "4:memory:/app/worker", "0::/../other", "0::/app/other", ""])
def test_without_a_memory_controller_of_version_2_the_process_is_read(tmp_path, line):
    cgroup(tmp_path / "fs" / "app" / "worker", 700)
    source = find_memory_source(tmp_path / "fs", proc(tmp_path / "proc", line))
    assert isinstance(source, ProcessMemory)
    assert source.read().source == "process (statm)"


def test_the_process_s_own_figure_is_its_resident_memory():
    before = ProcessMemory().read()
    block = np.ones(30_000_000, np.uint8)
    after = ProcessMemory().read()
    if before.is_peak:
        pytest.skip("this system tells only the peak")
    assert block.nbytes * 0.9 < after.used - before.used < block.nbytes * 2
    assert after.limit > after.used


def test_where_only_the_peak_is_known_it_says_so(tmp_path):
    reading = ProcessMemory(tmp_path).read()
    assert reading.is_peak
    assert reading.source in {"process peak (getrusage)", "none"}
    assert reading.used is None or reading.used > 1_000_000


def test_a_cgroup_that_disappears_is_unknown_and_raises_nothing(tmp_path):
    cgroup(tmp_path / "app", 300, maximum="1000")
    source = CgroupMemory(tmp_path / "app", tmp_path)
    (tmp_path / "app" / "memory.current").unlink()
    assert source.read().used is None


# -- the rules ---------------------------------------------------------------------------------------------------------


def test_capacity_falls_in_a_line_from_low_to_high_and_never_rises_with_pressure():
    config = GateConfig(estimate=ESTIMATE, most_live=10, low=0.5, high=0.9)
    assert [config.capacity_at(level) for level in (0.0, 0.5, 0.7, 0.89, 0.9, 5.0)] == [10, 10, 5, 1, 0, 0]
    values = [config.capacity_at(level / 1000) for level in range(1100)]
    assert values == sorted(values, reverse=True)
    assert set(values) == set(range(11)), "every capacity in between is taken"


def test_concurrency_is_bounded_and_a_released_ticket_makes_room():
    source = Figures()
    made = gate(source, most_live=2)
    first, second = made.admit(), made.admit()
    with pytest.raises(MemoryPressureError) as refused:
        made.admit()
    assert (refused.value.reason, refused.value.retry_after) == ("concurrency", 1.0)
    first.release()
    first.release()
    made.admit()
    with pytest.raises(MemoryPressureError):
        made.admit()
    second.release()
    counters = made.counters()
    assert (counters.live, counters.live_bytes, counters.admitted) == (1, 10, 3)
    assert counters.refused == {"concurrency": 2}


def test_a_ticket_is_a_context_manager():
    made = gate(Figures())
    with made.admit(5):
        assert made.counters().live_bytes == 15
    assert made.counters().live_bytes == 0


def test_the_estimate_bounds_what_is_live_together():
    made = gate(Figures(used=0), estimate=CapacityEstimate(weights=500, base=100, reserve=100), high=1.0, low=0.99)
    tickets = [made.admit() for _ in range(4)]
    made._reading = MemoryReading(source="test", used=0, limit=1000)
    with pytest.raises(MemoryPressureError) as refused:
        made.admit()
    assert refused.value.reason == "estimate"
    tickets[0].release()
    made.admit()


def test_a_request_that_never_fits_is_told_so_and_not_to_come_back():
    made = gate(Figures())
    with pytest.raises(MemoryPressureError) as refused:
        made.admit(891)
    assert (refused.value.reason, refused.value.retry_after) == ("too-large", None)
    made.admit(700)


def test_the_watermark_counts_what_was_admitted_since_the_reading():
    source = Figures(used=400)
    made = gate(source, period=1e9)
    made.admit(200)
    made.admit(200)
    with pytest.raises(MemoryPressureError) as refused:
        made.admit(200)
    assert refused.value.reason == "watermark", "400 used and 420 admitted leave no room for 210 below 900"
    assert source.reads == 1


def test_a_reading_is_used_for_its_period_only():
    source = Figures(used=100)
    made = gate(source, period=0.02)
    made.admit()
    assert source.reads == 1
    source.set(950)
    time.sleep(0.03)
    assert made.capacity() == 0
    assert source.reads == 2


def test_pressure_sheds_capacity_at_once_and_gives_it_back_late():
    source = Figures(used=700)
    made = gate(source)
    assert made.capacity() == 4
    for used, capacity in ((800, 2), (750, 2), (701, 2), (690, 3), (890, 1), (900, 0), (850, 0), (801, 0), (799, 1)):
        source.set(used)
        assert made.capacity() == capacity, used
    source.set(100)
    assert made.capacity() == 8


def test_a_figure_that_trembles_around_the_high_watermark_does_not_flap():
    source = Figures(used=890)
    made = gate(source)
    answers = []
    for turn in range(200):
        source.set(905 if turn % 2 else 895)
        answers.append(made.capacity() > 0)
    assert sum(one != other for one, other in itertools.pairwise(answers)) <= 1
    without = gate(source, margin=0.0)
    flapping = []
    for turn in range(200):
        source.set(905 if turn % 2 else 895)
        flapping.append(without.capacity() > 0)
    assert sum(one != other for one, other in itertools.pairwise(flapping)) > 100


def test_when_the_kernel_has_killed_nothing_is_admitted_until_a_calm_reading():
    source = Figures(used=100)
    made = gate(source)
    source.set(100, events=MemoryEvents(oom_kill=1))
    with pytest.raises(MemoryPressureError):
        made.admit()
    made.admit()


def test_throttling_and_reclaim_alone_shut_nothing():
    source = Figures(used=100)
    made = gate(source)
    source.set(100, events=MemoryEvents(high=50, max=9))
    made.admit()


@pytest.mark.parametrize("more", [{"is_peak": True}, {"limit": None}])
def test_what_cannot_fall_or_has_no_limit_shuts_nothing(more):
    made = gate(Figures(**{"used": 990, **more}))
    assert made.capacity() == 8
    made.admit()
    assert made.counters().pressure is None


def test_the_configured_limit_stands_in_and_never_loosens():
    assert gate(Figures(used=300, limit=None), limit=400).capacity() == 3
    assert gate(Figures(used=300, limit=400), limit=4000).capacity() == 3


@pytest.mark.parametrize("wrong", [{"most_live": 0}, {"low": 0.9}, {"high": 1.1}, {"margin": -0.1}, {"low": 0.0}])
def test_a_rule_that_cannot_be_followed_is_refused(wrong):
    with pytest.raises(ValueError, match=r"must be"):
        gate(Figures(), **wrong)


def test_by_default_it_reads_this_machine():
    made = MemoryGate(GateConfig(estimate=ESTIMATE, most_live=3))
    made.admit()
    counters = made.counters()
    assert counters.reading.source in {"cgroup v2", "process (statm)", "process peak (getrusage)", "none"}
    assert counters.capacity == 3


# -- threads -----------------------------------------------------------------------------------------------------------


def test_many_threads_never_hold_more_tickets_than_there_may_be():
    made = gate(Figures(), most_live=5)
    live, most, lock = [0], [0], threading.Lock()

    def client(seed):
        chance = random.Random(seed)
        admitted = 0
        for _ in range(400):
            try:
                ticket = made.admit(chance.randrange(20))
            except MemoryPressureError:
                continue
            with lock:
                live[0] += 1
                most[0] = max(most[0], live[0])
            admitted += 1
            time.sleep(0)
            with lock:
                live[0] -= 1
            ticket.release()
        return admitted

    with ThreadPoolExecutor(8) as executor:
        admitted = sum(executor.map(client, range(8)))
    counters = made.counters()
    assert most[0] <= 5
    assert (counters.live, counters.live_bytes, counters.admitted) == (0, 0, admitted)


def tickets_program(module):
    made_by = module

    def program():
        made = gate(Figures(), made_by, most_live=1)
        held, most = [], []

        def client():
            try:
                ticket = made.admit()
            except made_by.MemoryPressureError:
                return
            held.append(ticket)
            time.sleep(0)
            most.append(len(held))
            held.remove(ticket)
            ticket.release()
            ticket.release()

        threads = [threading.Thread(target=client) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return max(most), made.counters().live, made.counters().live_bytes

    return program


UNLOCKED = swap((
    """        with self._lock:
            self._look()
            reason = self._refusal(cost)
            if""",
    """        if True:
            self._look()
            reason = self._refusal(cost)
            if""",
))  # fmt: skip


def test_a_gate_that_checks_without_the_lock_admits_two_and_ours_never_does(search):
    wrong = search.results(tickets_program(instrumented("memory_gate", UNLOCKED)), 300)
    assert any(most > 1 for most, _, _ in wrong)
    right = search.results(tickets_program(instrumented("memory_gate")), 2_000)
    assert set(right) == {(1, 0, 0)}


# -- in front of a service ---------------------------------------------------------------------------------------------


def test_a_refused_request_never_reaches_the_service_and_an_ended_one_makes_room(runtime):
    made = gate(Figures(), most_live=2)
    with GatedService(SessionPool(runtime.open, ServiceConfig(capacity=4)), made) as service:
        runtime.hold(1)
        first = service.submit(task(1))
        runtime.wait_inside(1)
        second = service.submit(task(2))
        with pytest.raises(MemoryPressureError):
            service.submit(task(3))
        assert service.counters().accepted == 2
        runtime.let_go(1)
        assert value_of(first.result(GUARD)) == 2.0
        assert value_of(second.result(GUARD)) == 4.0
        wait([first, second], GUARD)
        service.submit(task(3)).result(GUARD)
    assert made.counters().live == 0
    assert 3.0 in runtime.order


def test_a_refusal_of_the_service_gives_the_ticket_back(runtime):
    made = gate(Figures())
    service = GatedService(SessionPool(runtime.open, ServiceConfig(capacity=1)), made)
    runtime.hold(1)
    service.submit(task(1))
    runtime.wait_inside(1)
    service.submit(task(2))
    with pytest.raises(QueueFullError):
        service.submit(task(3))
    assert made.counters().live == 2
    runtime.let_go(1)
    service.close()
    assert made.counters().live == 0


def test_a_task_cancelled_while_it_runs_keeps_its_ticket_until_the_call_has_returned(runtime):
    heard = []

    class Heard(NullObserver):
        def state(self, name):
            heard.append(name)

        def returned(self, slot):
            heard.append(("returned", slot))

    made = gate(Figures())
    observer = TicketObserver(Heard())
    pool = SessionPool(runtime.open, ServiceConfig(capacity=4, observer=observer))
    service = GatedService(pool, made, observer=observer)
    runtime.hold(1)
    future = service.submit(task(1))
    runtime.wait_inside(1)
    waiting = service.submit(task(2))
    assert waiting.cancel()
    assert made.counters().live == 1, "a task that never started holds nothing"
    assert future.cancel()
    assert future.done()
    assert made.counters().live == 1, "the native call still has its buffers"
    runtime.let_go(1)
    service.close()
    assert made.counters().live == 0
    assert [each for each in heard if each != "draining"] == ["accepting", ("returned", 0), "closed"]


def test_an_observer_behind_the_gate_hears_everything_that_one_in_front_of_a_service_does():
    heard = []

    class Heard:
        def __getattr__(self, name):
            return lambda *_: heard.append(name)

    told = [name for name in vars(Observer) if not name.startswith("_")]
    observer = TicketObserver(Heard())
    arguments = {"dequeued": [Future()], "leased": [0, Future()]}
    for name in told:
        getattr(observer, name)(*arguments.get(name, [0]))
    assert heard == told
    assert "recovery" in told


def test_requests_that_share_a_run_each_have_a_ticket_until_it_has_returned(runtime):
    made = gate(Figures())
    observer = TicketObserver()
    shared = RequestClass(overflow=OverflowPolicy.COALESCE)
    pool = SessionPool(runtime.open, ServiceConfig(capacity=4, observer=observer, classes=(shared,)))
    service = GatedService(pool, made, observer=observer)
    runtime.hold(1)
    runtime.hold(2)
    service.submit(task(1))
    runtime.wait_inside(1)
    one, other = service.submit(task(2), key="same"), service.submit(task(2), key="same")
    runtime.let_go(1)
    runtime.wait_inside(2)
    assert one.cancel()
    assert other.cancel()
    assert made.counters().live == 2
    runtime.let_go(2)
    service.submit(task(3)).result(GUARD)
    assert runtime.order.count(2.0) == 1
    service.close()
    assert made.counters().live == 0


def test_the_gate_stands_in_front_of_a_plain_executor():
    class Plain:
        def __init__(self):
            self.executor = ThreadPoolExecutor(1)

        def submit(self, inputs):
            return self.executor.submit(lambda: inputs["x"] * 2)

        def close(self):
            self.executor.shutdown()

    made = gate(Figures(used=0), most_live=1, estimate=CapacityEstimate(weights=1, base=1, per_unit=10))
    service = GatedService(Plain(), made)
    assert service.submit(task(3)).result(GUARD)[0] == 6.0
    service.close()
    assert made.counters().admitted == 1
    assert bytes_of(task(3)) == 4
    with pytest.raises(MemoryPressureError, match="too-large"):
        service.submit({"x": np.zeros(1000, np.float32)})
