import asyncio
import threading
from concurrent.futures import FIRST_COMPLETED, CancelledError, as_completed, wait

import pytest
from service_fakes import GUARD, task, value_of

from adapters.base import Grain, RunError, RunInterruptedError
from harness.service.config import ServiceConfig
from harness.service.queue import SerialQueue


@pytest.fixture
def queue(runtime):
    with SerialQueue(runtime.open, ServiceConfig(capacity=8)) as made:
        yield made
        for gate in runtime.gates.values():
            gate.set()


def held(runtime, queue, value=0):
    runtime.hold(value)
    future = queue.submit(task(value))
    runtime.wait_inside(value)
    return future


def in_thread(body):
    """Start a thread and return a function that joins it and gives back what `body` returned."""
    answers = []
    thread = threading.Thread(target=lambda: answers.append(body()))
    thread.start()

    def join():
        thread.join(GUARD)
        assert not thread.is_alive()
        return answers[0]

    return join


def waiters_of(future, count):
    """Wait until `count` threads have installed themselves as waiters (`wait`, `as_completed`) on the future."""
    deadline = threading.Event()
    for _ in range(1000):
        with future._condition:
            if len(future._waiters) + len(future._condition._waiters) >= count:
                return
        deadline.wait(0.005)
    pytest.fail("the waiter never came")


def test_queued_cancel(runtime, queue):
    held(runtime, queue)
    future = queue.submit(task(1))
    assert future.cancel_kind is None
    assert future.cancel()
    assert (future.cancelled(), future.done(), future.running()) == (True, True, False)
    assert future.cancel_kind == "queued"
    with pytest.raises(CancelledError):
        future.result(0)
    runtime.let_go(0)
    queue.close()
    assert runtime.order == [0.0]


def test_running_cancel_ends_the_task_at_once_and_keeps_the_slot(runtime, queue):
    future = held(runtime, queue)
    after = queue.submit(task(1))
    assert future.running()
    assert future.cancel()
    assert future.cancel_kind == "running"
    with pytest.raises(CancelledError):
        future.result(0)
    assert runtime.order == [0.0], "the slot is held: the next task has not started"
    runtime.let_go(0)
    assert value_of(after.result(GUARD)) == 2.0
    assert future.cancelled(), "the result of a cancelled task is never delivered"


def test_cancel_of_a_cancelled_task_says_so_again(runtime, queue):
    running = held(runtime, queue)
    queued = queue.submit(task(1))
    for future, kind in ((running, "running"), (queued, "queued")):
        assert [future.cancel(), future.cancel()] == [True, True]
        assert future.cancel_kind == kind


def test_cancel_after_the_end_is_refused(runtime, queue):
    runtime.run_errors[2.0] = RunError("the run failed")
    done, failed = queue.submit(task(1)), queue.submit(task(2))
    assert failed.exception(GUARD) is not None
    assert [done.cancel(), failed.cancel()] == [False, False]
    assert (done.cancel_kind, failed.cancel_kind) == (None, None)
    assert value_of(done.result(0)) == 2.0


@pytest.mark.parametrize("kind", ["queued", "running"])
@pytest.mark.parametrize("how", ["result", "exception", "wait", "first", "as_completed"])
def test_waiters_wake_in_the_call(runtime, queue, kind, how):
    running = held(runtime, queue)
    future = queue.submit(task(1)) if kind == "queued" else running

    def body():
        if how in {"result", "exception"}:
            with pytest.raises(CancelledError):
                getattr(future, how)(GUARD)
            return True
        if how == "as_completed":
            return list(as_completed([future], GUARD)) == [future]
        return wait([future], GUARD, FIRST_COMPLETED if how == "first" else "ALL_COMPLETED").done == {future}

    join = in_thread(body)
    waiters_of(future, 1)
    assert future.cancel()
    assert join(), "woken while the worker was still inside the native call"
    assert runtime.order == [0.0]


def test_wait_and_as_completed_over_every_kind_of_end(runtime, queue):
    runtime.run_errors[3.0] = RunError("the run failed")
    running = held(runtime, queue)
    futures = [running, *(queue.submit(task(n)) for n in (1, 2, 3))]
    join_wait = in_thread(lambda: wait(futures, GUARD))
    join_each = in_thread(lambda: [f for f in as_completed(futures, GUARD)])  # noqa: C416 - consumes the generator
    for future in futures:
        waiters_of(future, 2)
    assert futures[1].cancel()
    assert running.cancel()
    runtime.let_go(0)
    assert join_wait() == (set(futures), set())
    assert sorted(map(id, join_each())) == sorted(map(id, futures))
    assert [f.cancelled() for f in futures] == [True, True, False, False]


def test_who_wakes_from_a_cancel_finds_the_place_free(runtime):
    with SerialQueue(runtime.open, ServiceConfig(capacity=1)) as queue:
        held(runtime, queue)
        future = queue.submit(task(1))
        again = []
        future.add_done_callback(lambda _: again.append(queue.submit(task(2))))

        def body():
            with pytest.raises(CancelledError):
                future.result(GUARD)
            return queue.counters().waiting <= 1

        join = in_thread(body)
        waiters_of(future, 1)
        assert future.cancel()
        assert join()
        runtime.let_go(0)
        assert value_of(again[0].result(GUARD)) == 4.0


def test_a_running_cancel_interrupts_a_session_that_can_be(runtime):
    runtime.grain = Grain.NODE
    runtime.run_errors[0.0] = RunInterruptedError("interrupted")
    runtime.on_interrupt = lambda _session: runtime.let_go(0)
    with SerialQueue(runtime.open, ServiceConfig(capacity=8)) as queue:
        future = held(runtime, queue)
        queued = queue.submit(task(1))
        assert queued.cancel()
        assert future.cancel()
        assert value_of(queue.submit(task(2)).result(GUARD)) == 4.0
        assert future.cancelled()
    assert runtime.interrupts == [0.0], "the running task's call, once; a queued cancel interrupts nothing"


def test_a_session_without_interrupt_is_not_asked(runtime, queue):
    assert held(runtime, queue).cancel()
    assert runtime.interrupts == []


def test_an_interrupt_that_fails_does_not_change_the_answer(runtime):
    runtime.grain = Grain.NODE

    def refuse(_session):
        raise RunError("no")

    runtime.on_interrupt = refuse
    with SerialQueue(runtime.open, ServiceConfig(capacity=8)) as queue:
        future = held(runtime, queue)
        assert future.cancel()
        runtime.let_go(0)
        assert value_of(queue.submit(task(1)).result(GUARD)) == 2.0


def test_a_late_interrupt_cannot_hit_the_next_task(runtime):
    """The call returns while the interrupt is on its way; the session starts nothing until it has arrived."""
    runtime.grain = Grain.NODE
    arrived, go_on = threading.Event(), threading.Event()

    def slow(_session):
        arrived.set()
        assert go_on.wait(GUARD)

    runtime.on_interrupt = slow
    with SerialQueue(runtime.open, ServiceConfig(capacity=8)) as queue:
        future = held(runtime, queue)
        runtime.hold(1)
        after = queue.submit(task(1))
        join = in_thread(future.cancel)
        assert arrived.wait(GUARD)
        with pytest.raises(CancelledError):
            future.result(GUARD)  # a slow interrupt does not keep waiters asleep
        runtime.let_go(0)
        assert not runtime.entered[1.0].wait(0.05)
        go_on.set()
        runtime.wait_inside(1)
        assert join() is True
        runtime.let_go(1)
        assert value_of(after.result(GUARD)) == 2.0


@pytest.mark.parametrize("kind", ["queued", "running"])
def test_callbacks_of_a_cancel_run_on_the_canceller_with_no_lock_held(runtime, queue, kind):
    running = held(runtime, queue)
    future = queue.submit(task(1)) if kind == "queued" else running
    seen = []

    def callback(done):
        seen.append((threading.current_thread(), done.cancelled(), done.cancel()))
        queue.counters()
        queue.submit(task(5))

    future.add_done_callback(callback)
    assert future.cancel()
    assert seen == [(threading.current_thread(), True, True)]


def test_callbacks_of_a_run_task_run_on_the_worker(runtime, queue):
    future = held(runtime, queue)
    seen = []
    future.add_done_callback(lambda _: seen.append(threading.current_thread()))
    runtime.let_go(0)
    queue.close()
    assert seen == [runtime.sessions[0].opened_on]


def test_a_raising_callback_harms_nobody(runtime, queue, caplog):
    future = held(runtime, queue)
    seen = []

    def bad(_future):
        raise RuntimeError("callback")

    def worse(_future):
        raise SystemExit

    for callback in (bad, lambda _: seen.append("ran"), worse):
        future.add_done_callback(callback)
    runtime.let_go(0)
    assert value_of(queue.submit(task(1)).result(GUARD)) == 2.0
    assert seen == ["ran"]
    assert "a done-callback raised SystemExit" in caplog.text


def test_cancel_racing_with_completion_agrees_with_the_outcome(runtime):
    runtime.grain = Grain.NODE
    with SerialQueue(runtime.open, ServiceConfig(capacity=8)) as queue:
        for n in range(400):
            future = queue.submit(task(n))
            answer = future.cancel() if n % 3 else in_thread(future.cancel)()
            if answer:
                assert future.cancelled()
                assert future.cancel_kind in {"queued", "running"}
            else:
                assert value_of(future.result(GUARD)) == 2.0 * n
                assert future.cancel_kind is None


def test_asyncio_can_wrap_it(runtime, queue):
    async def use():
        answer = await asyncio.wrap_future(queue.submit(task(3)))
        held(runtime, queue)
        stuck = queue.submit(task(1))
        wrapped = asyncio.wrap_future(stuck)
        wrapped.cancel()
        with pytest.raises(asyncio.CancelledError):
            await wrapped
        return answer, stuck

    answer, stuck = asyncio.run(use())
    assert value_of(answer) == 6.0
    assert stuck.cancel_kind == "queued"
