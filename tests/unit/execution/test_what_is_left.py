"""What is said of threads that can never end: what each waits for, who holds it, and who outlived the service."""

from __future__ import annotations

from itertools import count

import pytest

from harness.execution.cell import CellRun, run_cell
from harness.execution.display import failure_of
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.oracle.reference import compute
from harness.schedule import Schedule
from harness.suite.plan import Budget, Cell, ServiceSpec, TargetSpec
from harness.verdict import Verdict
from scenarios.catalogue import load

TARGET = TargetSpec("numpy", "numpy")
SCENARIO = """
from harness.scenario import scenario

@scenario(tasks=1)
def one_submit(script):
    service = script.open_service()
    service.submit(script.task())
"""
SERVICE = """
import threading, queue, time
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait

class Service:
    def __init__(self, open_session, config):
        self.lock, self.again = threading.Lock(), threading.RLock()
        self.changed, self.event = threading.Condition(), threading.Event()
        self.units, self.barrier = threading.Semaphore(0), threading.Barrier(2)
        self.full, self.empty, self.simple = queue.Queue(1), queue.Queue(), queue.SimpleQueue()
        self.full.put(1)
        self.future = Future()
        self.prepare()

    def prepare(self):
        pass

    def submit(self, inputs):
        {hang}
        raise RuntimeError

    def close(self):
        pass

{more}
factory = Service
"""


pytestmark = pytest.mark.usefixtures("engine")


class Bench:
    def __init__(self, folder):
        self.folder = folder
        self.numbers = count()
        self.model = resolve("builtin:permutation", load_adapter("numpy").suffixes)
        self.expectations = compute(TARGET, self.model, 1, 16)

    def cell(self, hang="pass", more=""):
        folder = self.folder / str(next(self.numbers))  # a file is loaded once
        folder.mkdir()
        (folder / "scenario.py").write_text(SCENARIO)
        (folder / "service.py").write_text(SERVICE.format(hang=hang, more=more))
        service = ServiceSpec(f"{folder}/service.py:factory")
        budget = Budget(executions=1, strategy="scripted")
        return Cell(f"{folder}/scenario.py:one_submit", TARGET, service, self.model.digest, budget, seed=1)

    def judge(self, hang="pass", more=""):
        cell = self.cell(hang, more)
        return run_cell(cell, load(cell.scenario), self.model, self.expectations, lambda _: None)

    def opened(self, hang="pass", more=""):
        cell = self.cell(hang, more)
        return CellRun(cell, load(cell.scenario), self.model, self.expectations)


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


@pytest.mark.parametrize(
    ("hang", "what"),
    [
        ("self.lock.acquire(); self.lock.acquire()", "lock A (self.lock)"),
        ("self.changed.acquire(); self.changed.wait()", "a notification (self.changed)"),
        ("self.event.wait()", "an event (self.event)"),
        ("self.units.acquire()", "a unit of semaphore A (self.units)"),
        ("self.barrier.wait()", "the others at a barrier (self.barrier)"),
        ("self.empty.get()", "an item in a queue (self.empty)"),
        ("self.full.put(2)", "room in a queue (self.full)"),
        ("self.full.join()", "the end of a queue's work (self.full)"),
        ("self.simple.get()", "an item in a queue (self.simple)"),
        ("self.future.result()", "the outcome of a future (self.future)"),
        ("wait([self.future])", "the outcomes of futures"),
        ("list(as_completed([self.future]))", "the outcomes of futures"),
    ],
)
def test_what_a_thread_waits_for_and_what_their_code_calls_it(bench, hang, what):
    (failure, *_) = bench.judge(hang).failures
    (line,) = failure.blocked
    assert line.startswith(f"script waits for {what} at service.py:19")
    (stuck,) = [event for event in failure.events if event.kind == "stuck"]
    assert stuck.attrs["waits_for"] == what.partition(" (")[0]


def test_who_holds_a_lock_and_since_where(bench):
    hang = """thread = threading.Thread(target=self.work, daemon=True)
        thread.start()
        self.event.wait()
        self.lock.acquire()"""
    more = """
    def work(self):
        self.lock.acquire()
        self.event.set()
        self.simple.get()
"""
    result = bench.judge(hang, more)
    (failure, *_) = result.failures
    script = next(line for line in failure.blocked if line.startswith("script "))
    assert script == "script waits for lock A (self.lock) at service.py:22, held by service-1 since service.py:30"
    (stuck,) = [event for event in failure.events if event.kind == "stuck" and event.thread == "script"]
    assert stuck.attrs["holder"] == "service-1"


def test_the_thread_that_a_join_waits_for_is_named(bench):
    hang = "thread = threading.Thread(target=self.simple.get); thread.start(); thread.join()"
    (failure, *_) = bench.judge(hang).failures
    assert "script waits for the end of service-1 at service.py:19" in failure.blocked


@pytest.mark.parametrize("loop", ["while not self.event.is_set(): time.sleep(0)", "while True: time.sleep(1)"])
def test_a_loop_that_observes_nothing_goes_on_for_ever(bench, loop):
    result = bench.judge(loop)
    (failure, *_) = result.failures
    assert failure.blocked == ("script goes on for ever at service.py:19 and nothing comes of it",)
    assert [found.message for found in failure.violations if found.invariant == "no-deadlock"] == [
        "livelock: script goes on for ever, and nothing comes of it"
    ]


LEAKS = """
    def prepare(self):
        self.watcher = threading.Thread(target=self.watch, daemon=True)
        self.watcher.start()

    def watch(self):
        self.event.wait()
"""
ENDS = """
    def close(self):
        self.event.set()
        self.watcher.join()
"""


def left(result):
    return [finding.message for finding in result.findings if finding.kind == "thread-left"]


def test_a_daemon_thread_that_outlives_close_is_a_finding_and_no_violation(bench):
    result = bench.judge(more=LEAKS)
    assert result.verdict is not Verdict.FAIL
    assert left(result) == [
        "a thread of the service is still alive after close() returned: it waits for an event at service.py:31"
    ]
    assert not left(bench.judge(more=LEAKS + ENDS))


def test_an_executor_that_nobody_shuts_down_is_a_finding_and_no_violation(bench):
    more = """
    def prepare(self):
        self.pool = ThreadPoolExecutor(1)
        self.pool.submit(int).result()
"""
    result = bench.judge(more=more)
    assert result.verdict is not Verdict.FAIL, result.reason
    assert len(left(result)) == 1
    assert "an item in a queue" in left(result)[0]
    assert not left(bench.judge(more=more + "\n    def close(self):\n        self.pool.shutdown()\n"))


def test_a_thread_that_is_no_daemon_and_outlives_close_is_a_violation(bench):
    result = bench.judge(more=LEAKS.replace(", daemon=True", ""))
    assert result.reason == "no-deadlock: leaked thread: after close() returned, service-1 waits for an event"


def test_watching_an_execution_leaves_its_history_alone(bench):
    run = bench.opened("self.event.wait()")
    try:
        plain = run.laboratory.replay(Schedule("", "", ()))
        watched, tracer = run.laboratory.trace(Schedule("", "", ()))
        assert watched.history.digest() == plain.history.digest()
        assert tracer.places
        failure = failure_of(run.laboratory, run.schedule(plain), plain, (), 3)
    finally:
        run.laboratory.close()
    assert len(failure.places) == len(failure.events)
    assert failure.places[:2] == ("scenario.py:6", "scenario.py:6")
    assert failure.lines["service.py:19"] == "self.event.wait()"
    assert not any("event.wait" in str(event) for event in failure.events)


def test_a_replay_that_differs_names_the_decision(bench):
    more = """
    opened = iter(range(100))

    def prepare(self):
        self.number = next(Service.opened)
        self.helpers = [threading.Thread(target=self.lock.acquire) for _ in range(2 if self.number else 1)]

    def close(self):
        for helper in self.helpers:
            helper.start()
        self.event.wait()
"""
    result = bench.judge(more=more)
    assert result.verdict is Verdict.UNKNOWN
    (finding,) = [finding for finding in result.findings if finding.kind == "nondeterminism"]
    assert finding.message.startswith("a replay differs at decision 2: ")
    assert "in the replay" in finding.message
