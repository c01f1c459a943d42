"""A service in a forked child refuses at once, with a clear message, and costs its parent nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
ROOT = Path(__file__).parents[3]
PROGRAM = """
import concurrent.futures, os, sys, threading, warnings
sys.path[:0] = [{here!r}, {root!r}]
warnings.simplefilter("ignore")  # what newer Pythons say of a fork with threads
from fake_session import FakeRuntime, task
from harness.service.config import ServiceConfig
from harness.service.errors import ServiceForkedError
from harness.service.queue import SerialQueue

runtime = FakeRuntime()
runtime.hold(0)
queue = SerialQueue(runtime.open, ServiceConfig(capacity=4))
running = queue.submit(task(0))
runtime.wait_inside(0)
waiting = queue.submit(task(1))
locked, forked = threading.Event(), threading.Event()

def hold_the_locks():
    with queue.lock, waiting._condition:
        locked.set()
        forked.wait()

threading.Thread(target=hold_the_locks).start()
locked.wait()  # in the moment of the fork somebody holds what the child will never get
child = os.fork()
if child == 0:
    def says(ask):
        try:
            ask()
        except ServiceForkedError as error:
            print(error, flush=True)
    {asks}
    sys.exit(7)
forked.set()
print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
runtime.let_go(0)
print(running.result()["y"], waiting.result()["y"], flush=True)
queue.close()
"""
SAYS = "this process was forked, and the service is its parent's: spawn processes, or open a service in each"
ASKS = {
    "submit": "says(lambda: queue.submit(task(2)))",
    "counters": "says(queue.counters)",
    "recover": "says(queue.recover)",
    "the result of what waits": "says(waiting.result)",
    "the result of what runs": "says(running.result)",
    "wait": "concurrent.futures.wait([running, waiting]); says(waiting.result)",
}


def child_says(asks):
    program = PROGRAM.format(here=str(Path(__file__).parent), root=str(ROOT), asks=asks)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    *said, child, outputs = done.stdout.splitlines()
    assert (child, outputs) == ("child 7", "[0.] [2.]"), "the child ended by itself, and the parent went on"
    return said


def test_a_child_is_refused_whatever_it_asks():
    assert child_says("; ".join(ASKS.values())) == [SAYS] * len(ASKS)


def test_closing_in_a_child_has_nothing_to_do():
    assert child_says("queue.close(); queue.close(drain=False)") == []


def test_a_child_may_open_a_service_of_its_own():
    asks = "with SerialQueue(FakeRuntime().open, ServiceConfig(capacity=4)) as own: print(own.submit(task(3)).result())"
    assert child_says(asks) == ["{'y': array([6.], dtype=float32)}"]


def test_a_pipeline_is_refused_too():
    program = f"""
import os, sys, warnings
sys.path[:0] = [{str(ROOT)!r}]
warnings.simplefilter("ignore")
from harness.service.errors import ServiceForkedError
from harness.service.pipeline import Pipeline

pipeline = Pipeline({{"double": lambda value, buffer: value * 2}}, buffers=[None])
child = os.fork()
if child == 0:
    try:
        pipeline.submit(1)
    except ServiceForkedError:
        sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), pipeline.submit(2).result(), flush=True)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "7 4\n", done.stderr
