"""See `controlled_programs`: the asyncio front under the engine, on loops that wait in virtual time."""

import asyncio
import concurrent.futures
import threading
from time import monotonic

from controlled_programs import TICK
from service_programs import Lab, task

from adapters.base import Grain
from harness.service.aio import AsyncService
from harness.service.errors import QueueFullError, ServiceClosedError
from harness.service.requests import OverflowPolicy, RequestClass

BATCH = RequestClass(name="batch", overflow=OverflowPolicy.BLOCK)


async def end_of(awaited):
    """How an asyncio task ended."""
    try:
        return "SUCCEEDED" if await awaited is not None else "EMPTY"
    except asyncio.CancelledError:
        return "CANCELLED"
    except concurrent.futures.CancelledError:
        return "ABORTED"
    except (QueueFullError, ServiceClosedError) as error:
        return error.refusal


def cancel_races_completion():
    """The task that awaits is cancelled, from another thread, when the run is just about to end."""
    lab = Lab(grain=Grain.NODE)
    front = AsyncService(lab.make())
    futures = []

    async def main():
        loop = asyncio.get_running_loop()
        futures.append(await front.start(task(1, 0.010)))
        waiting = asyncio.create_task(front.outcome(futures[0]))
        canceller = threading.Timer(0.010 - TICK, loop.call_soon_threadsafe, (waiting.cancel,))
        canceller.start()
        kind = await end_of(waiting)
        futures.append(await front.start(task(2)))
        after = await end_of(asyncio.create_task(front.outcome(futures[1])))
        lab.check(after == "SUCCEEDED", f"the next task is {after}")
        await front.close()
        canceller.join()
        return kind

    kind = asyncio.run(main())
    truth = lab.agree(futures[0])
    lab.check(kind in {"CANCELLED", truth}, f"awaited {kind}, the task is {truth}")
    lab.check(kind == "SUCCEEDED" or truth in {"CANCELLED", "SUCCEEDED"}, f"awaited {kind}, the task is {truth}")
    lab.agree(futures[1])
    return lab.answer(kind, truth)


def cancel_of_a_running_task():
    """A run that cannot be interrupted keeps its slot after the cancel; the next one starts when it has returned."""
    lab = Lab()
    front = AsyncService(lab.make())
    futures = []

    async def main():
        futures.append(await front.start(task(1, 1.0)))
        waiting = asyncio.create_task(front.outcome(futures[0]))
        futures.append(await front.start(task(2)))
        await asyncio.sleep(0)  # a task that is cancelled before its first step awaits nothing
        while not lab.started:  # noqa: ASYNC110 - a worker does that
            await asyncio.sleep(0.001)
        waiting.cancel()
        kind = await end_of(waiting)
        at = monotonic()
        lab.check(await end_of(asyncio.create_task(front.outcome(futures[1]))) == "SUCCEEDED", "the other one")
        await front.close()
        return kind, at

    kind, at = asyncio.run(main())
    truth = lab.agree(futures[0])
    (_, first), (_, second) = lab.started
    over = at >= first + 1.0
    lab.check(kind == truth or (over and kind == "CANCELLED"), f"awaited {kind}, the task is {truth}")
    lab.check(second >= first + 1.0, "a second run began before the first had returned")
    return lab.answer(kind, futures[0].cancel_kind)


def close_while_awaiting():
    """An abort and a drain from two coroutines, with one task in native code and others waiting."""
    lab = Lab(capacity=4)
    front = AsyncService(lab.make())

    async def main():
        waiting = [asyncio.create_task(front.submit(task(n, 0.010))) for n in range(3)]
        await asyncio.sleep(0.005)
        await asyncio.gather(front.close(), front.close(drain=False))
        lab.check(front.service.state == "closed", "close returned early")
        kinds = [await end_of(each) for each in waiting]
        lab.check(await end_of(asyncio.create_task(front.submit(task(9)))) == "closed", "taken after close")
        return kinds

    kinds = asyncio.run(main())
    lab.check(set(kinds) <= {"SUCCEEDED", "ABORTED"}, f"{kinds}")
    lab.check(kinds == sorted(kinds, reverse=True), f"{kinds}: not in order")
    return lab.answer(*kinds)


def loop_closed_with_work_in_flight():
    """A loop is closed without a word to its tasks; the runs go on to their outcomes, and the service closes."""
    lab = Lab(capacity=1, classes=(BATCH,))
    front = AsyncService(lab.make())
    loop = asyncio.new_event_loop()
    futures, tasks = [], []

    async def begin():
        futures.extend([await front.start(task(1, 0.010)), await front.start(task(2), request_class="batch")])
        tasks.extend(loop.create_task(front.outcome(future)) for future in futures)
        tasks.append(loop.create_task(front.submit(task(3), request_class="batch")))
        await asyncio.sleep(0.010 - TICK)

    loop.run_until_complete(begin())
    loop.close()
    asyncio.run(front.close())
    for each in tasks:
        each._log_destroy_pending = False
    return lab.answer(*(lab.agree(future) for future in futures))


def turns():
    """Coroutines of two loops and a thread wait for the one place; one is cancelled, one gives up, others get in."""
    lab = Lab(capacity=1, classes=(BATCH,))
    front = AsyncService(lab.make())
    kinds = {}

    async def one(name, **options):
        kinds[name] = await end_of(asyncio.create_task(front.submit(task(1, 0.010), request_class="batch", **options)))

    async def first():
        gone = asyncio.create_task(one("cancelled"))
        others = [asyncio.create_task(one("a")), asyncio.create_task(one("late", timeout=0.015))]
        await asyncio.sleep(0.005)
        gone.cancel()
        await asyncio.gather(gone, *others, return_exceptions=True)

    async def second():
        await asyncio.gather(one("b"), one("c"))

    def blocking():
        kinds["thread"] = (
            "SUCCEEDED" if front.service.submit(task(2, 0.010), request_class="batch").result() else "EMPTY"
        )

    threads = [
        threading.Thread(target=asyncio.run, args=(first(),)),
        threading.Thread(target=asyncio.run, args=(second(),)),
        threading.Thread(target=blocking),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asyncio.run(front.close())
    lab.check(all(kinds[name] == "SUCCEEDED" for name in ("a", "b", "c", "thread")), f"{kinds}")
    lab.check(kinds["late"] in {"SUCCEEDED", "full"}, f"{kinds}")
    lab.check(front.service._admission._somebody_blocked == 0, "a turn is left")
    return lab.answer(kinds["late"])
