"""A program whose service hangs in native code ends in bounded time, with the status that its user expects."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.faults.native import native_availability

ROOT = Path(__file__).parents[2]
WAITS_S = 0.3
"""How long these programs wait at exit for a call in flight; 5 seconds if nothing is said."""
ENDS_WITHIN_S = 20.0
"""Generous: what is tested is that a program ends, and does not hang."""
PROGRAM = """
import gc, os, signal, sys, threading, time
import numpy as np
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.service import exit_hook
from harness.service.config import ServiceConfig
from harness.service.queue import SerialQueue

signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs in the background inherits that it is ignored
exit_hook.EXIT_SECONDS = {waits}
adapter = load_adapter("{adapter}")
model = resolve("builtin:affine", adapter.suffixes)
held = threading.Event()
{hang}
queue = SerialQueue(open_session, ServiceConfig(capacity=4))
inputs = {{"x": np.ones((1, 8), np.float32)}}
running = queue.submit(inputs)
wait_held()
waiting = queue.submit(inputs)
print("held", flush=True)
{ends}
print("main ends", flush=True)
"""
HANGS = {
    "numpy": """
from adapters.numpy_reference import NumpySession

real = NumpySession.invoke

def invoke(session):
    if not held.is_set():
        held.set()
        os.read(os.pipe()[0], 1)  # a native call that never returns
    time.sleep(0.3)
    real(session)

NumpySession.invoke = invoke
slow = lambda: None
open_session = lambda *, fallback=False: adapter.open(model, adapter.cpu_delegate, {})
wait_held = held.wait
""",
    "litert": """
from harness.faults.native import NativeFaults

faults = NativeFaults.tflite()
open_session = lambda *, fallback=False: adapter.open(model, faults.delegate, faults.options(adapter.name))
faults.arm("hang", seconds=600)
wait_held = faults.wait_held
slow = lambda: faults.arm("slow", seconds=0.3)
""",
}
CALLED_BACK_ON_A_WORKER = """
slow()
other = SerialQueue(open_session, ServiceConfig(capacity=4))
done = other.submit(inputs)
done.add_done_callback(lambda _: sys.exit(9))
print(done.result()["y"][0, 0], flush=True)
"""
NO_THREAD_ANY_MORE = """
def refuse(thread):
    raise RuntimeError("can't create new thread at interpreter shutdown")
threading.Thread.start = refuse
sys.exit(7)
"""
"""As CPython 3.12 is from the beginning of its exit."""
ENDS = {
    "at the end of main": ("", 0, ["main ends"]),
    "sys.exit": ("sys.exit(7)", 7, []),
    "sys.exit, and no thread is started any more": (NO_THREAD_ANY_MORE, 7, []),
    "an uncaught exception": ("raise ValueError('mine')", 1, []),
    "del and garbage collection": ("del queue, running, waiting; gc.collect()", 0, ["main ends"]),
    "sys.exit in a callback": (
        "waiting.add_done_callback(lambda _: sys.exit(9)); print(waiting.cancel(), flush=True)",
        9,
        [],
    ),
    "sys.exit in a callback on a worker": (
        CALLED_BACK_ON_A_WORKER,
        0,
        ["main ends"],
    ),
    "SIGTERM": ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM, []),
    "SIGTERM that raises SystemExit": (
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(143)); os.kill(os.getpid(), signal.SIGTERM)",
        143,
        [],
    ),
    "SIGINT while it waits": (
        "threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start(); running.result()",
        -signal.SIGINT,
        [],
    ),
    "SIGINT while it closes": (
        "threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start(); queue.close()",
        -signal.SIGINT,
        [],
    ),
}


def program(adapter, ends):
    return PROGRAM.format(waits=WAITS_S, adapter=adapter, hang=HANGS[adapter], ends=ends)


def run(adapter, ends):
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", program(adapter, ends)],
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(Path.home())},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert time.monotonic() - begun < ENDS_WITHIN_S
    assert "Fatal Python error" not in done.stderr
    assert "terminate called" not in done.stderr
    return done


def held_in_native_code(require_runtime):
    require_runtime("litert")
    available, reason = native_availability()
    if not available:
        pytest.skip(reason)


def ends(adapter, how):
    program, status, says = ENDS[how]
    done = run(adapter, program)
    assert done.returncode == status, done.stderr
    assert [line for line in done.stdout.splitlines() if line == "main ends"] == says
    assert done.stdout.startswith("held\n")


@pytest.mark.runtime
@pytest.mark.parametrize("how", ENDS)
def test_a_program_that_is_held_in_a_native_delegate_ends_with_its_status(require_runtime, how):
    held_in_native_code(require_runtime)
    ends("litert", how)


ON_THE_REFERENCE = (
    "at the end of main", "sys.exit in a callback", "sys.exit, and no thread is started any more", "SIGTERM",
    "SIGINT while it closes",
)  # fmt: skip


@pytest.mark.parametrize("how", ON_THE_REFERENCE)
def test_a_program_that_hangs_on_the_numpy_reference_ends_with_its_status(how):
    ends("numpy", how)
