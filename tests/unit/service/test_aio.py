"""The asyncio front on asyncio's own loop."""

import asyncio
import concurrent.futures
import contextlib
import threading
import time

import pytest
from service_fakes import GUARD, task, value_of

from adapters.base import Grain, RunError, RunInterruptedError
from harness.service.aio import AsyncService
from harness.service.config import ServiceConfig
from harness.service.errors import (
    DeadlineExpiredError,
    QueueFullError,
    ServiceClosedError,
    SessionReleaseError,
)
from harness.service.journal import FileJournal
from harness.service.pool import SessionPool
from harness.service.requests import OverflowPolicy, RequestClass

BATCH = RequestClass(name="batch", overflow=OverflowPolicy.BLOCK)


@pytest.fixture
def make(runtime):
    made = []

    def front(**config):
        made.append(SessionPool(runtime.open, ServiceConfig(**{"capacity": 8, **config})))
        return AsyncService(made[-1])

    yield front
    for gate in runtime.gates.values():
        gate.set()
    for each in made:
        with contextlib.suppress(SessionReleaseError):
            each.close()


async def reached(condition):
    """Let the loop turn until something is so."""
    async with asyncio.timeout(GUARD):
        while not condition():  # noqa: ASYNC110 - what it waits for happens on other threads
            await asyncio.sleep(0.001)


async def held(runtime, front, value=0, **options):
    """A task that awaits an inference task inside native code."""
    runtime.hold(value)
    waiting = asyncio.create_task(front.submit(task(value), **options))
    await reached(runtime.entered[float(value)].is_set)
    return waiting


def test_outputs_and_errors_come_back(runtime, make):
    runtime.run_errors[2.0] = RunError("x")

    async def main():
        async with make() as front:
            assert value_of(await front.submit(task(1))) == 2.0
            with pytest.raises(RunError):
                await front.submit(task(2))
            results = await asyncio.gather(*(front.submit(task(number)) for number in range(3, 9)))
            assert [value_of(outputs) for outputs in results] == [2.0 * number for number in range(3, 9)]
        assert front.service.state == "closed"

    asyncio.run(main())
    assert runtime.order == [float(number) for number in range(1, 9)], "accepted in the order of the calls"


def test_a_waiting_task_is_cancelled_with_the_task_that_awaits_it(runtime, make):
    async def main():
        async with make() as front:
            first = await held(runtime, front)
            second = asyncio.create_task(front.submit(task(1)))
            await reached(lambda: front.service.counters().waiting == 1)
            second.cancel()
            with pytest.raises(asyncio.CancelledError):
                await second
            assert front.service.counters().waiting == 0
            runtime.let_go(0)
            assert value_of(await first) == 0.0

    asyncio.run(main())
    assert runtime.order == [0.0]


def test_a_running_tasks_slot_is_held_until_the_call_has_returned(runtime, make):
    async def main():
        async with make() as front:
            future = await start_held(runtime, front)
            waiting = asyncio.create_task(front.outcome(future))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert future.cancel_kind == "running"
            after = asyncio.create_task(front.submit(task(1)))
            await reached(lambda: front.service.counters().waiting == 1)
            await asyncio.sleep(0.02)
            assert runtime.order == [0.0], "the next one has not started"
            assert front.service.counters().abandoned == 1
            runtime.let_go(0)
            assert value_of(await after) == 2.0
            assert front.service.counters().late_results == 1

    asyncio.run(main())


async def start_held(runtime, front, value=0):
    runtime.hold(value)
    future = await front.start(task(value))
    await reached(runtime.entered[float(value)].is_set)
    return future


def test_cancelling_interrupts_where_the_session_can_be(runtime, make):
    runtime.grain = Grain.NODE
    runtime.run_errors[0.0] = RunInterruptedError("interrupted")
    runtime.on_interrupt = lambda _session: runtime.let_go(0)

    async def main():
        async with make() as front:
            waiting = await held(runtime, front)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert value_of(await front.submit(task(1))) == 2.0

    asyncio.run(main())
    assert runtime.interrupts == [0.0]


def test_an_interrupt_that_blocks_does_not_stop_the_loop(runtime, make):
    """And the slot is not used again before the interrupt has arrived."""
    runtime.grain = Grain.NODE
    arrived = threading.Event()
    runtime.on_interrupt = lambda _: arrived.wait(GUARD)

    async def main():
        async with make() as front:
            future = await start_held(runtime, front)
            waiting = asyncio.create_task(front.outcome(future))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert future.cancel_kind == "running"
            after = asyncio.create_task(front.submit(task(1)))
            runtime.let_go(0)
            await asyncio.sleep(0.02)
            assert runtime.order == [0.0], "the call has returned, the interrupt has not"
            arrived.set()
            assert value_of(await after) == 2.0

    asyncio.run(main())
    assert len(runtime.interrupts) == 1


def test_an_abort_is_not_mistaken_for_a_cancelled_task(runtime, make):
    async def main():
        front = make()
        await held(runtime, front)
        second = asyncio.create_task(front.submit(task(1)))
        await reached(lambda: front.service.counters().waiting == 1)
        closing = asyncio.create_task(front.close(drain=False))
        with pytest.raises(concurrent.futures.CancelledError):
            await second
        assert not second.cancelled()
        runtime.let_go(0)
        await closing

    asyncio.run(main())


def test_a_deadline_and_a_time_out_of_asyncio(runtime, make):
    async def main():
        async with make() as front:
            running = await start_held(runtime, front)
            with pytest.raises(DeadlineExpiredError):
                await front.submit(task(1), deadline=0.02)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.02):
                    await front.outcome(running)
            assert running.cancel_kind == "running"
            runtime.let_go(0)

    asyncio.run(main())
    assert runtime.order == [0.0]


def test_closing_leaves_the_loop_to_others(runtime, make):
    async def main():
        front = make()
        waiting = await held(runtime, front)
        closing = asyncio.create_task(front.close())
        turns = 0
        while turns < 20:
            await asyncio.sleep(0.001)
            turns += 1
        assert not closing.done()
        with pytest.raises(ServiceClosedError):
            await front.submit(task(1))
        runtime.let_go(0)
        await closing
        assert value_of(await waiting) == 0.0
        await front.close()

    asyncio.run(main())


def test_a_cancelled_close_goes_on(runtime, make):
    async def main():
        front = make()
        waiting = await held(runtime, front)
        closing = asyncio.create_task(front.close())
        await reached(lambda: front.service.state == "draining")
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        runtime.let_go(0)
        assert value_of(await waiting) == 0.0
        await reached(lambda: front.service.state == "closed")

    asyncio.run(main())


def test_close_raises_what_a_release_did(runtime, make):
    runtime.close_error = RuntimeError("x")

    async def main():
        async with make():
            pass

    with pytest.raises(SessionReleaseError):
        asyncio.run(main())


# -- classes that block ------------------------------------------------------------------------------------------------


def test_a_class_that_blocks_waits_in_order_and_leaves_the_loop_to_others(runtime, make):
    before = threading.active_count()

    async def main():
        async with make(capacity=1, classes=(BATCH,)) as front:
            await held(runtime, front)
            batch = [asyncio.create_task(front.submit(task(n), request_class="batch")) for n in range(1, 40)]
            await reached(lambda: front.service.counters().waiting == 1)
            turns = 0
            while turns < 20:
                await asyncio.sleep(0.001)
                turns += 1
            assert threading.active_count() <= before + 1, "no thread for a request: the slot's worker alone"
            assert not any(each.done() for each in batch)
            runtime.let_go(0)
            await asyncio.gather(*batch)

    asyncio.run(main())
    assert runtime.order == [float(number) for number in range(40)]


def test_threads_and_coroutines_wait_in_one_line(runtime, make):
    async def main():
        async with make(capacity=1, classes=(BATCH,)) as front:
            await held(runtime, front)
            loop, service, started = asyncio.get_running_loop(), front.service, []
            for number in range(1, 8):  # the first takes the place, and the others wait in turn
                if number % 2:
                    started.append(asyncio.create_task(front.submit(task(number), request_class="batch")))
                else:
                    blocking = lambda n=number: service.submit(task(n), request_class="batch").result(GUARD)  # noqa: E731
                    started.append(loop.run_in_executor(None, blocking))
                await reached(lambda: service.counters().waiting == 1)
                await reached(lambda n=number: service._admission._somebody_blocked == n - 1)
            runtime.let_go(0)
            await asyncio.gather(*started)

    asyncio.run(main())
    assert runtime.order == [float(number) for number in range(8)]


def test_a_wait_for_a_place_ends(runtime, make):
    async def main():
        async with make(capacity=1, classes=(BATCH,)) as front:
            await held(runtime, front)
            taken = await front.start(task(1), request_class="batch")
            began = time.monotonic()
            with pytest.raises(QueueFullError):
                await front.submit(task(2), request_class="batch", timeout=0.03)
            assert time.monotonic() - began >= 0.03
            with pytest.raises(QueueFullError):
                await front.submit(task(3), request_class="batch", deadline=0.03)
            with pytest.raises(ValueError, match="above 0"):
                await front.submit(task(3), request_class="batch", deadline=-1.0)
            assert taken.cancel()
            assert value_of_later(await front.start(task(4), request_class="batch", deadline=30.0)) is None
            runtime.let_go(0)

    asyncio.run(main())
    assert runtime.order == [0.0, 4.0]


def value_of_later(future):
    return None if not future.done() else value_of(future.result())


def test_a_deadline_goes_on_while_a_request_waits_for_a_place(runtime, make):
    async def main():
        async with make(capacity=1, classes=(BATCH,)) as front:
            await held(runtime, front)
            taken = await front.start(task(1), request_class="batch")
            began = time.monotonic()
            late = asyncio.create_task(front.start(task(2), request_class="batch", deadline=0.2))
            await asyncio.sleep(0.1)
            assert taken.cancel()
            assert (await late).due - began < 0.25, "from the call, not from when there was a place"
            runtime.let_go(0)

    asyncio.run(main())


def test_who_gives_up_lets_the_next_one_in(runtime, make):
    async def main():
        async with make(capacity=1, classes=(BATCH,)) as front:
            await held(runtime, front)
            taken = await front.start(task(1), request_class="batch")
            first, second = (asyncio.create_task(front.start(task(n), request_class="batch")) for n in (2, 3))
            await reached(lambda: front.service._admission._somebody_blocked == 2)
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            assert taken.cancel()
            await second
            assert front.service._admission._somebody_blocked == 0
            runtime.let_go(0)

    asyncio.run(main())
    assert runtime.order == [0.0, 3.0]


def test_closing_wakes_who_waits_for_a_place(runtime, make):
    async def main():
        front = make(capacity=1, classes=(BATCH,))
        await held(runtime, front)
        await front.start(task(1), request_class="batch")
        blocked = [asyncio.create_task(front.submit(task(n), request_class="batch")) for n in (2, 3)]
        await reached(lambda: front.service._admission._somebody_blocked == 2)
        closing = asyncio.create_task(front.close())
        for each in blocked:
            with pytest.raises(ServiceClosedError):
                await each
        runtime.let_go(0)
        await closing

    asyncio.run(main())


def test_what_runs_is_what_was_submitted_although_it_waited(runtime, make):
    async def main():
        async with make(capacity=1, classes=(BATCH,)) as front:
            await held(runtime, front)
            await front.start(task(1), request_class="batch")
            mine = task(2)
            waiting = asyncio.create_task(front.submit(mine, request_class="batch"))
            await reached(lambda: front.service._admission._somebody_blocked == 1)
            mine["x"][0] = 9
            runtime.let_go(0)
            assert value_of(await waiting) == 4.0

    asyncio.run(main())


# -- work that must finish ---------------------------------------------------------------------------------------------


class SlowDisk:
    """A FileJournal that can be held before a task is accepted."""

    def __init__(self, path):
        self.inner = FileJournal(path)
        self.go_on = threading.Event()
        self.threads = set()

    def __getattr__(self, name):
        value = getattr(self.inner, name)
        if not callable(value):
            return value

        def slow(*args, **kwargs):
            self.threads.add(threading.current_thread().name)
            assert self.go_on.wait(GUARD)
            return value(*args, **kwargs)

        return slow


def test_the_disk_never_stops_the_loop(make, tmp_path):
    disk = SlowDisk(tmp_path / "j")
    orders = RequestClass(name="orders", journal=True)

    async def main():
        front = make(classes=(orders,), journal=disk)
        accepted = asyncio.create_task(front.submit(task(1), request_class="orders", payload_ref="one"))
        gone = asyncio.create_task(front.submit(task(2), request_class="orders", payload_ref="two"))
        for _ in range(20):
            await asyncio.sleep(0.001)
        assert not accepted.done()
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        disk.go_on.set()
        assert value_of(await accepted) == 2.0
        await front.close()
        return front

    front = asyncio.run(main())
    assert front.service.counters().accepted == 1, "what was withdrawn before its turn was never submitted"
    assert threading.current_thread().name not in disk.threads


# -- loops -------------------------------------------------------------------------------------------------------------


def test_two_loops_use_one_service(runtime, make):
    front = make(capacity=2, classes=(BATCH,), slots=2)

    async def client(base):
        results = await asyncio.gather(*(front.submit(task(base + n), request_class="batch") for n in range(50)))
        return [value_of(outputs) for outputs in results] == [2.0 * (base + n) for n in range(50)]

    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        assert all(executor.map(lambda base: asyncio.run(client(base)), (0, 1000)))
    asyncio.run(front.close())
    assert len(runtime.order) == 100


def test_a_loop_that_is_closed_leaves_the_work_to_end(runtime, make, caplog):
    front = make(classes=(BATCH,), capacity=1)
    loop = asyncio.new_event_loop()
    future = loop.run_until_complete(start_held(runtime, front))
    waiting = loop.create_task(front.outcome(future))
    blocked = [loop.create_task(front.submit(task(n), request_class="batch")) for n in (1, 2)]
    loop.run_until_complete(asyncio.sleep(0.01))
    loop.close()
    runtime.let_go(0)
    assert value_of(future.result(GUARD)) == 0.0
    asyncio.run(front.close())
    assert not caplog.records, "nobody was told of a loop that is closed"
    for each in (waiting, *blocked):
        each._log_destroy_pending = False
        with pytest.raises(RuntimeError):
            each.get_coro().throw(RuntimeError("end it"))


def test_run_cancels_what_is_in_flight_when_the_main_task_ends(runtime, make):
    front = make()
    futures = []

    async def main():
        futures.append(await start_held(runtime, front))
        asyncio.create_task(front.outcome(futures[0]))  # noqa: RUF006 - it is left to the end of the loop
        await asyncio.sleep(0)

    asyncio.run(main())
    assert futures[0].cancel_kind == "running"
    runtime.let_go(0)


def test_a_failed_tasks_error_does_not_hold_its_future(runtime, make):
    runtime.run_errors[1.0] = RunError("x")

    async def main():
        async with make() as front:
            future = await front.start(task(1))
            with pytest.raises(RunError) as caught:
                await front.outcome(future)
            step = caught.value.__traceback__.tb_next
            while step is not None:
                assert future not in step.tb_frame.f_locals.values()
                step = step.tb_next

    asyncio.run(main())
