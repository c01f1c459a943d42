"""Done-callbacks: their thread, that no lock is held, and what happens to one that raises, blocks or outlives close."""

import gc
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import pytest
from service_fakes import GUARD, task, value_of

from harness.service.config import ServiceConfig
from harness.service.pool import SessionPool
from harness.service.queue import SerialQueue
from harness.service.requests import OverflowPolicy, RequestClass

LATEST = (RequestClass(name="latest", overflow=OverflowPolicy.KEEP_LATEST),)


@pytest.fixture
def queue(runtime):
    with SerialQueue(runtime.open, ServiceConfig(capacity=8, classes=LATEST)) as made:
        yield made
        for gate in runtime.gates.values():
            gate.set()


def held(runtime, queue, value=0):
    runtime.hold(value)
    future = queue.submit(task(value))
    runtime.wait_inside(value)
    return future


@pytest.mark.parametrize("how", ["run", "cancel", "replace", "expire"])
def test_no_lock_of_the_service_is_held(runtime, queue, how):
    running = held(runtime, queue)
    future = (
        running
        if how == "run"
        else queue.submit(task(1), request_class="latest", deadline=0.02 if how == "expire" else 60.0)
    )
    free, over = [], threading.Event()

    def callback(done):
        other = threading.Thread(
            target=lambda: free.append((queue.counters().accepted, done.cancel() in {True, False}))
        )
        other.start()
        other.join(GUARD / 2)
        free.append(not other.is_alive())
        over.set()

    future.add_done_callback(callback)
    if how == "run":
        runtime.let_go(0)
    elif how == "cancel":
        assert future.cancel()
    elif how == "replace":
        queue.submit(task(2), request_class="latest")
    assert over.wait(GUARD)
    assert free[-1] is True, "another thread waited for a lock that the callback's thread held"
    assert free[0][1]


def test_every_callback_runs_although_an_earlier_one_raised_what_is_no_exception(runtime, queue, caplog):
    future = held(runtime, queue)
    seen = []

    def worse(_future):
        raise KeyboardInterrupt

    future.add_done_callback(worse)
    future.add_done_callback(seen.append)
    runtime.let_go(0)
    assert value_of(queue.submit(task(1)).result(GUARD)) == 2.0
    assert seen == [future]
    assert "KeyboardInterrupt" in caplog.text


def test_what_a_callback_raises_on_its_clients_thread_reaches_the_client(runtime, queue):
    future = held(runtime, queue)
    seen = []

    def stop(_future):
        raise KeyboardInterrupt

    future.add_done_callback(stop)
    future.add_done_callback(seen.append)
    with pytest.raises(KeyboardInterrupt):
        future.cancel()
    assert future.cancelled()
    assert seen == [future]


def test_a_log_holds_no_text_of_a_clients_error(runtime, queue, caplog):
    future = held(runtime, queue)

    def leak(_future):
        raise ValueError("the user's own words")

    future.add_done_callback(leak)
    assert future.cancel()
    assert "ValueError" in caplog.text
    assert "own words" not in caplog.text


def test_a_callback_that_blocks_holds_its_own_slot_and_nothing_else(runtime):
    go_on, blocked = threading.Event(), threading.Event()
    pool = SessionPool(runtime.open, ServiceConfig(capacity=8, slots=2))
    runtime.hold(0)
    future = pool.submit(task(0))
    runtime.wait_inside(0)

    def block(_future):
        blocked.set()
        assert go_on.wait(GUARD)

    future.add_done_callback(block)
    runtime.let_go(0)
    assert blocked.wait(GUARD)
    assert value_of(future.result(0)) == 0.0, "waiters do not wait for callbacks"
    assert [value_of(pool.submit(task(n)).result(GUARD)) for n in range(1, 6)] == [2.0 * n for n in range(1, 6)]
    closer = threading.Thread(target=pool.close)
    closer.start()
    closer.join(0.05)
    assert closer.is_alive(), "close waits for callbacks on the service's own threads"
    go_on.set()
    closer.join(GUARD)
    assert not closer.is_alive()


def test_close_does_not_wait_for_a_callback_on_a_clients_thread(runtime, queue):
    held(runtime, queue)
    go_on, blocked = threading.Event(), threading.Event()
    future = queue.submit(task(1))

    def block(_future):
        blocked.set()
        assert go_on.wait(GUARD)

    future.add_done_callback(block)
    canceller = threading.Thread(target=future.cancel)
    canceller.start()
    assert blocked.wait(GUARD)
    runtime.let_go(0)
    queue.close()
    assert canceller.is_alive()
    go_on.set()
    canceller.join(GUARD)
    del queue
    gc.collect()


def test_a_future_that_is_kept_keeps_no_service(runtime):
    queue = SerialQueue(runtime.open, ServiceConfig(capacity=8, run_budget=60.0, classes=LATEST))
    runtime.hold(0)
    futures = [queue.submit(task(0), deadline=60.0)]
    runtime.wait_inside(0)
    futures += [queue.submit(task(n), request_class="latest", deadline=60.0) for n in (1, 2)]
    assert futures[2].cancel()
    runtime.let_go(0)
    queue.close()
    kept = weakref.ref(queue)
    del queue
    gc.collect()
    assert kept() is None
    assert [each.done() for each in futures] == [True] * 3


def test_a_service_nobody_holds_ends_its_tasks_all_the_same(runtime):
    queue = SerialQueue(runtime.open, ServiceConfig(capacity=8))
    running = held(runtime, queue)
    waiting = queue.submit(task(1))
    late = queue.submit(task(2), deadline=0.02)
    kept = weakref.ref(queue)
    del queue
    gc.collect()
    assert late.exception(GUARD) is not None
    runtime.let_go(0)
    assert [value_of(each.result(GUARD)) for each in (running, waiting)] == [0.0, 2.0]
    kept().close()


PROGRAM = """
import os, sys, threading
sys.path[:0] = {path!r}
from service_fakes_program import FakeRuntime, task
from harness.service.config import ServiceConfig
from harness.service.errors import ServiceClosedError
from harness.service.queue import SerialQueue
from harness.service.requests import OverflowPolicy, RequestClass

def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())

runtime = FakeRuntime()
runtime.hold(0)
queue = SerialQueue(runtime.open, ServiceConfig(capacity=1, classes=(RequestClass(overflow=OverflowPolicy.BLOCK),)))
running = queue.submit(task(0), deadline=1000.0)
runtime.wait_inside(0)
waiting = queue.submit(task(1), deadline=1000.0)
def client():
    try:
        queue.submit(task(2))
    except ServiceClosedError:
        say("client refused")
        runtime.let_go(0)
threading.Thread(target=client, daemon=True).start()
while not queue._admission._somebody_blocked:
    threading.Event().wait(0.001)
waiting.add_done_callback(lambda f: say("waiting", f.cancelled()))
running.add_done_callback(lambda f: say("running", f.cancelled()))
say("main ends")
"""


def test_exit_with_work_blocked_waiting_and_in_flight_and_a_clock(tmp_path):
    (tmp_path / "service_fakes_program.py").write_text(Path(__file__).with_name("fake_session.py").read_text())
    program = PROGRAM.format(path=[str(tmp_path), *sys.path])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == "main ends"
    assert sorted(done.stdout.splitlines()[1:]) == ["client refused", "running False", "waiting True"]
