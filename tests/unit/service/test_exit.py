"""What happens to a service that was left open when the interpreter exits: in a process of its own."""

import gc
import os
import pathlib
import subprocess
import sys
import textwrap
import weakref

import pytest
from service_fakes import GUARD, task

from adapters.base import Grain
from harness.service import exit_hook
from harness.service.config import ServiceConfig
from harness.service.queue import SerialQueue

PROGRAM = """
import sys
sys.path[:0] = {path!r}
from service_fakes_program import FakeRuntime, task
from adapters.base import Grain
from harness.service import exit_hook
from harness.service.config import ServiceConfig
from harness.service.queue import SerialQueue

runtime = FakeRuntime()
runtime.hold(0)
queue = SerialQueue(runtime.open, ServiceConfig(capacity=4))
running = queue.submit(task(0))
runtime.wait_inside(0)
waiting = queue.submit(task(1))
for name, future in (("running", running), ("waiting", waiting)):
    future.add_done_callback(lambda f, name=name: print(name, f.cancelled(), flush=True))
close = type(runtime.sessions[0]).close
def tell(session):
    close(session)
    print("session closed", flush=True)
type(runtime.sessions[0]).close = tell
waiting.add_done_callback(lambda _: runtime.let_go(0))
print("main ends", flush=True)
"""


def program_in(folder):
    (folder / "service_fakes_program.py").write_text(pathlib.Path(__file__).with_name("fake_session.py").read_text())
    return PROGRAM.format(path=[str(folder), *sys.path])


def test_a_service_left_open_is_aborted_at_exit(tmp_path):
    program = program_in(tmp_path)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    assert done.returncode == 0
    assert done.stdout.splitlines() == ["main ends", "waiting True", "running False", "session closed"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_does_not_wait_for_workers_it_does_not_have(tmp_path):
    program = program_in(tmp_path)
    program += textwrap.dedent("""
    import os, warnings
    warnings.simplefilter("ignore")
    queue.lock.acquire()
    child = os.fork()
    if child == 0:
        sys.exit(7)
    queue.lock.release()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert "7" in done.stdout.splitlines()


def test_a_closed_service_is_collected(runtime):
    runtime.grain = Grain.NODE
    queue = SerialQueue(runtime.open, ServiceConfig(capacity=1))
    future = queue.submit(task(1))
    future.result(GUARD)
    queue.close()
    assert queue not in exit_hook._open
    assert future.run is None, "a kept future holds neither session nor inputs"
    ref = weakref.ref(queue)
    del queue
    gc.collect()
    assert ref() is None, "neither the exit hook nor a kept future holds it"
