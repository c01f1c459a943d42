"""Faults that end the process, each in a process of its own, and hangs where no gate can be opened."""

import signal
import subprocess

import pytest
from native_cases import child, skip_unless_there

pytestmark = pytest.mark.runtime

SIGNALS = {"abort": signal.SIGABRT, "segfault": signal.SIGSEGV, "bus": signal.SIGBUS}


def ended(name, body, seconds=60):
    skip_unless_there(name)
    return subprocess.run(child(name, body), capture_output=True, text=True, timeout=seconds, check=False)


@pytest.mark.parametrize("kind", SIGNALS)
@pytest.mark.parametrize("name", ["litert", "tflite", "onnxruntime"])
def test_the_process_dies_by_the_signal_at_the_second_run(name, kind):
    body = f"""
session = case.open()
case.faults.arm({kind!r}, nth=2)
assert answer(session, 1) == truth(1)
print("first run", flush=True)
answer(session, 2)
print("second run", flush=True)
"""
    done = ended(name, body)
    assert done.stdout == "first run\n"
    assert done.returncode == -SIGNALS[kind], done.stderr


@pytest.mark.parametrize("point", ["create", "prepare", "init", "allocate", "destroy"])
def test_the_process_dies_at_each_other_point_of_the_delegate(point):
    body = f"""
case.faults.arm("abort", point={point!r})
session = case.open()
print("open", flush=True)
session.close()
"""
    done = ended("litert", body)
    assert done.returncode == -signal.SIGABRT, done.stderr
    assert done.stdout == ("open\n" if point == "destroy" else "")


@pytest.mark.parametrize("point", ["create", "init", "destroy"])
def test_the_process_dies_at_each_other_point_of_the_operator(point):
    body = f"""
case.faults.arm("segfault", point={point!r})
session = case.open()
print("open", flush=True)
session.close()
"""
    done = ended("onnxruntime", body)
    assert done.returncode == -signal.SIGSEGV, done.stderr
    assert done.stdout == ("open\n" if point == "destroy" else "")


HELD = [("litert", point) for point in ("create", "prepare", "init", "allocate", "destroy")]
HELD += [("tflite", "allocate"), ("tflite", "destroy"), ("onnxruntime", "create"), ("onnxruntime", "destroy")]
LONGEST_PAUSE = """
import threading, time
from adapters.base import AdapterError
ticks, stop = [], threading.Event()
def tick():
    while not stop.wait(0.01):
        ticks.append(time.monotonic())
threading.Thread(target=tick, daemon=True).start()
session = None
if {point!r} in ("invoke", "destroy"):
    session = case.open()
case.faults.arm("hang", point={point!r}, seconds=1.0)
began = time.monotonic()
try:
    session = session or case.open()
    if {point!r} == "invoke":
        answer(session, 1)
    session.close()
except AdapterError:
    pass
ended = time.monotonic()
stop.set()
counters = case.faults.counters()
assert ended - began >= 1.0
assert counters.gate_timeouts == 1, counters
pauses = [after - before for before, after in zip([began, *ticks], [*ticks, ended])]
print("all of Python waits" if max(pauses) >= 0.9 else "other threads go on")
"""


@pytest.mark.parametrize(("name", "point"), HELD)
def test_a_hang_here_holds_all_of_python(name, point):
    """The call comes with the GIL held: no thread can open the gate, and only the safety time ends it."""
    done = ended(name, LONGEST_PAUSE.format(point=point))
    assert (done.returncode, done.stdout) == (0, "all of Python waits\n"), done.stderr


@pytest.mark.parametrize(
    ("name", "point"),
    [("litert", "invoke"), ("tflite", "invoke"), ("onnxruntime", "invoke"), ("onnxruntime", "init")],
)
def test_a_hang_here_leaves_the_other_threads_alone(name, point):
    done = ended(name, LONGEST_PAUSE.format(point=point))
    assert (done.returncode, done.stdout) == (0, "other threads go on\n"), done.stderr


@pytest.mark.parametrize("name", ["litert", "tflite", "onnxruntime"])
def test_a_process_with_a_call_held_in_native_code_can_be_killed(name):
    skip_unless_there(name)
    body = """
import threading
session = case.open()
case.faults.arm("hang", seconds=600)
threading.Thread(target=lambda: answer(session, 1)).start()
assert case.faults.wait_held(1)
print("held", flush=True)
threading.Event().wait()
"""
    with subprocess.Popen(child(name, body), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        assert process.poll() is None
        process.kill()
        assert process.wait(20) == -signal.SIGKILL
