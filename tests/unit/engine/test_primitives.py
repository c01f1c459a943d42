"""The standard library runs, unmodified, above the replaced bottom."""

from __future__ import annotations

import _thread
import concurrent.futures
import contextvars
import datetime as dt
import logging
import queue
import threading
import time
from threading import Lock as LockByName

import pytest

MADE_AT_IMPORT = threading.Lock()


def results(runs):
    return {run.result for run in runs}


def test_a_race_on_a_plain_attribute_shows_both_outcomes(bench):
    def program(_):
        counter = {"value": 0}
        lock = threading.Lock()

        def add():
            with lock:
                seen = counter["value"]
            with lock:
                counter["value"] = seen + 1

        threads = [threading.Thread(target=add) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return counter["value"]

    assert results(bench.many(program)) == {1, 2}


def test_a_lock_excludes(bench):
    def program(_):
        inside = []
        lock = LockByName()

        def enter():
            with lock:
                inside.append("in")
                time.sleep(0)
                inside.append("out")

        threads = [threading.Thread(target=enter) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return tuple(inside)

    assert results(bench.many(program)) == {("in", "out") * 3}


def test_two_locks_in_two_orders_deadlock_in_some_executions(bench):
    def program(_):
        a, b = threading.Lock(), threading.RLock()

        def one():
            with a, b:
                pass

        def other():
            with b, a:
                pass

        threads = [threading.Thread(target=one), threading.Thread(target=other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return "done"

    runs = bench.many(program)
    stuck = [run for run in runs if run.left]
    assert stuck
    assert any(run.result == "done" for run in runs)
    blocked = {thread.name: getattr(thread.waits_for, "owner", None) for thread in stuck[0].kernel.threads}
    assert all(run.clean for run in runs), "a deadlocked execution is unwound and its carriers are used again"
    assert len(blocked) == 3


def test_a_time_out_can_come_before_and_after_the_event(bench):
    def program(_):
        event = threading.Event()
        threading.Thread(target=event.set).start()
        return event.wait(1.0)

    assert results(bench.many(program, strategy="random")) == {True, False}


def test_queue_with_time_outs_under_every_strategy(bench):
    def program(_):
        box = queue.Queue(1)
        got = []

        def take():
            try:
                got.append(box.get(timeout=0.5))
            except queue.Empty:
                got.append("empty")

        taker = threading.Thread(target=take)
        taker.start()
        box.put("item")
        taker.join()
        return tuple(got)

    for strategy in ("random", "pct", "portfolio"):
        assert ("item",) in results(bench.many(program, strategy=strategy))
    assert results(bench.many(program, strategy="random")) == {("item",), ("empty",)}


def test_executor_as_completed_and_wait(bench):
    def program(_):
        with concurrent.futures.ThreadPoolExecutor(2) as executor:
            futures = [executor.submit(lambda number=number: number * number) for number in range(3)]
            order = tuple(future.result() for future in concurrent.futures.as_completed(futures))
            done, pending = concurrent.futures.wait(futures)
        return order, len(done), len(pending)

    seen = results(bench.many(program, strategy="random"))
    assert {tuple(sorted(order)) for order, _, _ in seen} == {(0, 1, 4)}
    assert len(seen) > 1, "the order of completion is explored"
    assert {(done, left) for _, done, left in seen} == {(3, 0)}


def test_timer_semaphore_barrier_and_local(bench):
    def program(_):
        said = []
        own = threading.local()
        barrier = threading.Barrier(2)
        semaphore = threading.BoundedSemaphore(1)

        def meet(number):
            own.number = number
            barrier.wait()
            with semaphore:
                said.append(own.number)

        timer = threading.Timer(0.25, said.append, ("late",))
        timer.start()
        threads = [threading.Thread(target=meet, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in (*threads, timer):
            thread.join()
        return frozenset(said), hasattr(own, "number")

    assert results(bench.many(program, 50)) == {(frozenset({0, 1, "late"}), False)}


def test_a_subclass_of_thread_and_current_thread(bench):
    class Worker(threading.Thread):
        def run(self):
            self.seen = threading.current_thread() is self and self.is_alive()

    def program(_):
        worker = Worker(name="mine", daemon=True)
        worker.start()
        worker.join()
        return worker.seen, worker.is_alive(), worker.name

    assert results(bench.many(program, 20)) == {(True, False, "mine")}


def test_clocks_are_virtual_and_a_polling_loop_ends(bench):
    def program(_):
        began = time.monotonic()
        while time.monotonic() - began < 0.01:
            pass
        time.sleep(3600)
        return time.time() > 1_700_000_000, round(time.perf_counter() - began) == 3600, dt.datetime.now(dt.UTC).year

    real = time.monotonic()
    assert results(bench.many(program, 3)) == {(True, True, 2026)}
    assert time.monotonic() - real < 60, "an hour of virtual time takes none of ours"


def test_locks_made_at_import_and_the_library_s_own_are_under_control(bench):
    bench.many(lambda _: None, 1)
    assert type(logging._lock).__module__.startswith("harness.engine")
    assert type(concurrent.futures.thread._global_shutdown_lock).__module__.startswith("harness.engine")


@pytest.mark.usefixtures("bench")
def test_outside_a_controlled_thread_everything_is_real():
    lock = threading.Lock()
    done = []
    with lock:
        thread = threading.Thread(target=lambda: done.append(lock.acquire(timeout=0.01)))
        thread.start()
        thread.join(10)
    assert done == [False]
    assert not lock.locked()
    assert isinstance(dt.datetime.now(dt.UTC), dt.datetime)


def test_a_lock_is_not_released_by_a_stranger_s_reentry(bench):
    def program(_):
        lock = threading.RLock()
        with lock, lock:
            inner = []
            thread = threading.Thread(target=lambda: inner.append(lock.acquire(blocking=False)))
            thread.start()
            thread.join()
        with pytest.raises(RuntimeError):
            lock.release()
        return tuple(inner)

    assert results(bench.many(program, 30)) == {(False,)}


def test_a_thread_started_below_threading_is_under_control(bench):
    def program(_):
        said = []
        done = threading.Lock()
        done.acquire()

        def say():
            said.append(threading.current_thread().daemon)
            done.release()

        _thread.start_new_thread(say, ())
        with done:
            return tuple(said)

    runs = bench.many(program, 20)
    assert results(runs) == {(True,)}
    assert {len(run.kernel.threads) for run in runs} == {2}


def test_a_thread_that_was_given_a_context_runs_in_it(bench):
    """As `Thread(context=...)` of CPython 3.14 keeps it."""
    value = contextvars.ContextVar("value", default=0)

    def program(_):
        seen = []
        threads = [threading.Thread(target=lambda: seen.append(value.get())) for _ in range(2)]
        threads[1]._context = contextvars.Context()
        threads[1]._context.run(value.set, 7)
        value.set(3)
        for thread in threads:
            thread.start()
            thread.join()
        return tuple(seen)

    assert results(bench.many(program, 3)) == {(0, 7)}


def test_a_lock_that_can_be_taken_again_says_that_it_is_held_where_a_real_one_does(bench):
    def program(_):
        lock = threading.RLock()
        with lock:
            inside = lock.held()
        return inside, lock.held(), hasattr(lock, "locked")

    assert results(bench.many(program, 3)) == {(True, False, hasattr(_thread.RLock, "locked"))}
