"""asyncio above a selector of the engine's: loops wait in virtual time, and threads that wake them are explored."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

# The loop gives its executor 300 virtual seconds to end; that this time-out fires first is explored as well.
pytestmark = pytest.mark.filterwarnings("ignore:The executor did not finish:RuntimeWarning")


def test_call_soon_threadsafe_races_with_a_time_out(bench):
    def program(_):
        async def main():
            loop = asyncio.get_running_loop()
            told = loop.create_future()
            thread = threading.Thread(target=lambda: loop.call_soon_threadsafe(told.set_result, "told"))
            thread.start()
            try:
                return await asyncio.wait_for(asyncio.shield(told), timeout=1.0)
            except TimeoutError:
                return "late"
            finally:
                await loop.run_in_executor(None, thread.join)

        return asyncio.run(main())

    runs = bench.many(program, 60, strategy="random")
    assert {run.result for run in runs} == {"told", "late"}
    assert all(run.clean and not run.left for run in runs)


def test_executors_wrapped_futures_and_virtual_sleep(bench):
    def program(trace):
        async def work(number):
            value = await asyncio.get_running_loop().run_in_executor(None, lambda: number * number)
            trace.append(value)
            await asyncio.sleep(3600)
            return number

        async def main():
            return tuple(await asyncio.gather(*(work(number) for number in range(3))))

        return asyncio.run(main()), tuple(trace)

    began = time.monotonic()
    runs = bench.many(program, 150, strategy="pct")
    assert time.monotonic() - began < 60
    assert {run.result[0] for run in runs} == {(0, 1, 2)}
    assert len({run.result[1] for run in runs}) > 1, "the order in which the executor's threads answer is explored"
    again = bench.replay(program, runs[-1])
    assert again.result == runs[-1].result


def test_outside_of_an_execution_a_loop_is_as_ever():
    async def main():
        await asyncio.sleep(0.001)
        return await asyncio.to_thread(lambda: "real")

    assert asyncio.run(main()) == "real"


FIRST_LOOPS = """
import asyncio, sys
sys.path[:0] = [{here!r}]
from conftest import Bench

def program(_):
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(asyncio.sleep(0, "done"))
    finally:
        loop.close()

bench = Bench()
from harness.engine.strategies.scripted import Scripted
print(*(bench.once(program, Scripted(), 0).kernel.steps for _ in range(2)))
"""


def test_the_first_loop_of_a_process_takes_as_many_steps_as_the_next():
    done = subprocess.run(
        [sys.executable, "-c", FIRST_LOOPS.format(here=str(Path(__file__).parent))],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[3],
    )
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.split()
    assert first == second
