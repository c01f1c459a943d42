"""What a worker starts itself, and a worker whose parent is not the supervisor: what docs/limits.md says of them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from living import gone, lives

from harness.supervisor.process import Worker
from harness.worker.protocol import PROTOCOL_VERSION, Hello, HelloParams

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc says which process lives")
WORKER = """
import os, subprocess, sys
child = subprocess.Popen(["sleep", "60"], start_new_session=sys.argv[1] == "leaves", stdout=subprocess.DEVNULL)
with open(sys.argv[2], "w") as file:
    file.write(f"{os.getpid()} {child.pid}\\n")
from harness.worker.__main__ import main
os._exit(main())
"""
SUPERVISOR = """
import os, signal, sys
from harness.supervisor.process import Worker
from harness.worker.protocol import PROTOCOL_VERSION, Hello, HelloParams
worker = Worker(sys.argv[1:])
assert isinstance(worker.ask("hello", HelloParams(PROTOCOL_VERSION, "oracle"), Hello), Hello)
os.kill(os.getpid(), signal.SIGKILL)
"""
IN_NATIVE_CODE = """
import ctypes, os, sys
from harness.worker.orphan import die_with_supervisor
die_with_supervisor(os.environ)
with open(sys.argv[1], "w") as file:
    file.write(f"{os.getpid()} 0\\n")
sys.stdin.readline()
os.write(1, b'{"id": 1, "result": {"protocol": 1, "harness": "1", "python": "3", "platform": "x"}}\\n')
ctypes.PyDLL(None).sleep(60)
"""
BEHIND_A_COMMAND = ("sh", "-c", '"$@"; exit $?', "sh")
"""As `ssh` is: the worker's parent is not the supervisor. What else may be where there is no Linux, is so here."""


@pytest.fixture
def pids(tmp_path):
    """A file that a worker writes its process id into, and its child's; what is left of them is ended."""
    file = tmp_path / "pids"
    yield file
    for pid in map(int, file.read_text().split()):
        if pid and lives(pid):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def worker(pids):
    """Start a worker whose child stays in its process group, or leaves it."""
    started = []

    def start(child):
        made = Worker((sys.executable, "-c", WORKER, child, str(pids)))
        started.append(made)
        assert isinstance(made.ask("hello", HelloParams(PROTOCOL_VERSION, "oracle"), Hello), Hello)
        return made, int(pids.read_text().split()[1])

    yield start
    for each in started:
        each.stop()


def kill_supervisor_of(*command):
    """Run a supervisor that greets a worker and dies of SIGKILL."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run(
        [sys.executable, "-c", SUPERVISOR, *command],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_what_a_worker_starts_ends_with_it(worker, end):
    made, child = worker("stays")
    assert lives(child)
    getattr(made, end)()
    assert gone(child)


def test_what_has_left_the_group_does_not(worker):
    made, child = worker("leaves")
    made.stop()
    assert not made.alive
    assert lives(child)


def test_a_killed_supervisor_takes_its_worker_along_and_not_what_that_had_started(pids):
    kill_supervisor_of(sys.executable, "-c", WORKER, "stays", str(pids))
    worker, child = map(int, pids.read_text().split())
    assert gone(worker)
    assert lives(child)


def test_behind_a_command_an_idle_worker_ends_when_its_input_does(pids):
    kill_supervisor_of(*BEHIND_A_COMMAND, sys.executable, "-c", WORKER, "stays", str(pids))
    assert gone(int(pids.read_text().split()[0]))


def test_behind_a_command_a_worker_in_native_code_lives_on(pids):
    kill_supervisor_of(*BEHIND_A_COMMAND, sys.executable, "-c", IN_NATIVE_CODE, str(pids))
    assert not gone(int(pids.read_text().split()[0]), seconds=0.5)
