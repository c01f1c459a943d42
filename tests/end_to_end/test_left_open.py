"""A program that ends while a call is in flight: what that does to queues as they are often written, and to ours.

A controlled execution cannot show this. The interpreter ends once in a process, and what goes wrong then is its own
doing: it waits for threads that are no daemons, calls what was registered, and cuts daemon threads off in native code.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STAYS_S = 1.5
"""A program that is still there so long after its main thread has ended is one that does not end."""
ENDS_WITHIN_S = 30.0
"""Generous: the others end half a second after it."""
PROGRAM = """
import atexit, os, sys, threading, time
from concurrent.futures import Future
from queue import SimpleQueue
import numpy as np
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.service.config import ServiceConfig
from harness.service.queue import SerialQueue

adapter = load_adapter("numpy")
session = adapter.open(resolve("builtin:affine", adapter.suffixes), adapter.cpu_delegate, {})
begun = threading.Event()
invoke = type(session).invoke


def slow(self):
    begun.set()
    time.sleep(0.3)  # long enough for the main thread to end meanwhile
    invoke(self)
    os.write(1, b"returned\\n")


type(session).invoke = slow


class Plain:
    daemon = True

    def __init__(self, open_session, config):
        self.session, self.tasks = open_session(), SimpleQueue()
        self.worker = threading.Thread(target=self.serve, daemon=self.daemon)
        self.worker.start()

    def submit(self, inputs):
        future = Future()
        self.tasks.put((inputs, future))
        return future

    def serve(self):
        while (task := self.tasks.get()) is not None:
            task[1].set_result(self.session.run(task[0]))

    def close(self):
        self.tasks.put(None)
        self.worker.join()


class NoDaemon(Plain):
    daemon = False


class Registered(Plain):
    def __init__(self, *args):
        super().__init__(*args)
        atexit.register(self.close)


service = globals()[sys.argv[1]](lambda *, fallback=False: session, ServiceConfig(capacity=4))
service.submit({"x": np.ones((1, 8), np.float32)})
begun.wait()
print("main ends", flush=True)
sys.exit(7)
"""


def ended(service, within=ENDS_WITHIN_S):
    """What the program says last, and its status: None for one that does not end within so many seconds."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, service],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        said = process.stdout.readline()
        assert said == "main ends\n", said
        try:
            return process.communicate(timeout=within)[0], process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            return process.communicate()[0], None


WELL = ("returned\n", 7)
"""The call in flight came back, and the status is the program's own."""


@pytest.mark.parametrize("service", ["SerialQueue", "Registered"])
def test_the_call_in_flight_returns_before_the_interpreter_ends(service):
    assert ended(service) == WELL


def test_a_daemon_worker_that_nobody_stops_is_cut_off_in_its_call():
    assert ended("Plain") == ("", 7)


def test_a_worker_that_is_no_daemon_keeps_the_program_from_ending():
    assert ended("NoDaemon", within=STAYS_S) == ("returned\n", None)
