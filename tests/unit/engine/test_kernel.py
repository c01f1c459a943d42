"""What the kernel promises: determinism, quiescence, and that nothing which escapes control goes unseen."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from harness.engine import kernel as kernel_module
from harness.engine.strategies.portfolio import make_strategy
from harness.engine.strategies.scripted import Scripted
from harness.engine.threads import current


def test_one_schedule_gives_one_history_200_times(bench, busy_program):
    original = bench.many(busy_program, 30, strategy="random")[-1]
    assert original.kernel.choices, "there is something to replay"
    assert {bench.replay(busy_program, original).result for _ in range(200)} == {original.result}


ACROSS = """
import hashlib, sys
sys.path[:0] = {path!r}
import importlib.util
spec = importlib.util.spec_from_file_location("bench", {conftest!r})
conftest = importlib.util.module_from_spec(spec); sys.modules["bench"] = conftest; spec.loader.exec_module(conftest)
runs = conftest.Bench().many(conftest.busy, 40, strategy="random", seed=5)
print(hashlib.sha256(repr([(run.result, run.kernel.choices) for run in runs]).encode()).hexdigest())
"""


def test_executions_are_the_same_in_every_process_and_under_every_hash_seed():
    here = Path(__file__)
    code = ACROSS.format(path=sys.path, conftest=str(here.with_name("conftest.py")))
    seen = set()
    for hash_seed in ("0", "1", "random"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=100, check=False
        )
        assert done.returncode == 0, done.stderr
        seen.add(done.stdout)
    assert len(seen) == 1


def test_an_idle_polling_daemon_comes_to_rest(bench):
    def program(_):
        box: queue.Queue[int] = queue.Queue()

        def poll():
            while True:
                try:
                    box.get(timeout=0.1)
                except queue.Empty:
                    continue

        threading.Thread(target=poll, daemon=True).start()
        return "main is done"

    for run in bench.many(program, 5):
        assert run.result == "main is done"
        assert run.left == ["service-1"]
        assert run.clean


def test_a_spin_on_locks_runs_out_of_budget(bench):
    def program(_):
        lock = threading.Lock()
        while True:
            with lock:
                pass

    run = bench.once(program, Scripted(), limit=200)
    assert run.kernel.out_of_budget
    assert run.clean


@pytest.mark.parametrize("kind", ["spin", "read"])
def test_what_escapes_control_is_named_and_bounded(bench, monkeypatch, kind):
    monkeypatch.setattr(kernel_module, "STALL_SECONDS", 0.3)
    monkeypatch.setattr(kernel_module, "UNWIND_SECONDS", 0.3)
    readable, writable = os.pipe()
    stop = []

    def program(_):
        if kind == "read":
            os.read(readable, 1)
        while kind == "spin" and not stop:
            pass

    run = bench.once(program, make_strategy("random", 1))
    assert run.kernel.stalled is not None
    assert "test_kernel.py:" in run.kernel.stalled.where
    assert not run.clean
    stop.append(True)
    os.write(writable, b"x")


def test_a_thread_that_swallows_everything_is_still_unwound(bench):
    def program(_):
        lock = threading.Lock()
        lock.acquire()
        while True:
            try:
                lock.acquire()
            except BaseException:  # noqa: BLE001
                return

    run = bench.once(program, Scripted())
    assert run.left == ["main"]
    assert run.clean


def test_a_native_call_without_the_token_lets_others_go_and_ends_when_it_is_expected(bench):
    gate = threading.Event()  # made outside: used for real below
    order = []

    def program(_):
        me = current()
        kernel = me.kernel
        real = gate._cond._lock  # the dual-mode lock below the event

        def call():
            real.raw.acquire()  # really blocks, outside control
            order.append("returned")

        real.raw.acquire()

        def other():
            order.append("other went on")
            real.raw.release()
            kernel.expect_return(me)

        threading.Thread(target=other).start()
        kernel.native(me, call)
        real.raw.release()
        return kernel.real_time_mattered

    run = bench.once(program, Scripted())
    assert order == ["other went on", "returned"]
    assert run.result is False
