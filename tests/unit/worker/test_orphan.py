"""A worker dies with its supervisor, and with nobody else."""

import os
import subprocess
import sys
import threading
import time

import pytest
from living import gone

from harness.supervisor.process import Worker, worker_command
from harness.worker.orphan import SUPERVISOR, die_with_supervisor
from harness.worker.protocol import PROTOCOL_VERSION, Hello, HelloParams

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone tells a process that its parent died")
INSIDE_NATIVE_CODE = """
import ctypes, os
from harness.worker.orphan import die_with_supervisor
die_with_supervisor(os.environ)
os.write(1, b"x")
ctypes.PyDLL(None).sleep(1000)  # Python's lock is held: no thread of this process runs any more
"""
SUPERVISOR_THAT_IS_KILLED = f"""
import os, signal, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {INSIDE_NATIVE_CODE!r}], stdout=subprocess.PIPE,
                         env={{**os.environ, "{SUPERVISOR}": str(os.getpid())}})
child.stdout.read(1)
print(child.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_worker_that_hangs_in_native_code_dies_with_its_supervisor():
    done = subprocess.run(
        [sys.executable, "-c", SUPERVISOR_THAT_IS_KILLED], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == -9, done.stderr
    assert gone(int(done.stdout))


def test_a_supervisor_that_died_before_the_kernel_was_asked_is_noticed(monkeypatch):
    parents = iter([7, 1])
    killed = []
    monkeypatch.setattr("ctypes.CDLL", lambda _: type("Libc", (), {"prctl": lambda *_: 0}))
    monkeypatch.setattr(os, "getppid", lambda: next(parents))
    monkeypatch.setattr(os, "kill", lambda pid, number: killed.append((pid, number)))
    die_with_supervisor({SUPERVISOR: "7"})
    assert killed == [(os.getpid(), 9)]


@pytest.mark.parametrize("told", ["", "1", "none"])
def test_a_worker_that_somebody_else_started_is_left_alone(monkeypatch, told):
    monkeypatch.setattr("ctypes.CDLL", None)
    monkeypatch.setattr(os, "getppid", lambda: 7)
    die_with_supervisor({SUPERVISOR: told} if told else {})


def test_a_worker_outlives_the_thread_that_asked_for_it():
    started = []
    thread = threading.Thread(target=lambda: started.append(Worker(worker_command())))
    thread.start()
    thread.join()
    (worker,) = started
    try:
        assert isinstance(worker.ask("hello", HelloParams(PROTOCOL_VERSION, "oracle"), Hello), Hello)
        time.sleep(0.1)
        assert isinstance(worker.ask("device", {}, dict), dict)
    finally:
        worker.stop()


def test_a_worker_may_use_the_cores_of_the_thread_that_asked_for_it():
    cores = os.sched_getaffinity(0)
    one = {min(cores)}
    try:
        os.sched_setaffinity(0, one)
        pinned = Worker(worker_command())
    finally:
        os.sched_setaffinity(0, cores)
    free = Worker(worker_command())
    try:
        assert os.sched_getaffinity(pinned.pid) == one
        assert os.sched_getaffinity(free.pid) == cores
    finally:
        pinned.stop()
        free.stop()
