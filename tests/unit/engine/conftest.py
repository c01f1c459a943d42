from __future__ import annotations

import concurrent.futures
import contextlib
import gc
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from harness.engine.carriers.greenlets import GreenletCarriers
from harness.engine.carriers.os_thread import OsThreadCarriers
from harness.engine.install import install, reset_names
from harness.engine.kernel import Kernel
from harness.engine.primitives.thread import start_controlled
from harness.engine.strategies.portfolio import make_strategy
from harness.engine.strategies.replay import Replay
from harness.engine.threads import State
from harness.schedule import Schedule


@dataclass
class Ran:
    result: Any
    left: list[str]
    kernel: Kernel
    clean: bool
    trace: list[Any] = field(default_factory=list)


@contextlib.contextmanager
def uncollected():
    """As in a cell: finalizers of what earlier executions left must not run in the middle of this one."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class Bench:
    """Runs a program, `program(trace) -> result`, under control."""

    def __init__(self, kind: str = "os_thread") -> None:
        install()
        self.carriers: Any = GreenletCarriers() if kind == "greenlets" else OsThreadCarriers()

    def once(self, program: Callable[[list[Any]], Any], strategy: Any, number: int = 0, limit: int = 20_000) -> Ran:
        ran = self.search(program, strategy, number, limit)
        assert ran is not None
        return ran

    def search(
        self, program: Callable[[list[Any]], Any], strategy: Any, number: int, limit: int = 20_000
    ) -> Ran | None:
        if not strategy.begin(number):
            return None
        reset_names()
        kernel = Kernel(self.carriers, strategy, limit)
        kernel.track(strategy.races)
        results: list[Any] = []
        trace: list[Any] = []
        thread = threading.Thread(target=lambda: results.append(program(trace)))
        start_controlled(kernel, thread, name="main", role="actor")
        with uncollected():
            kernel.go()
        left = [thread.name for thread in kernel.threads if thread.state is not State.DONE]
        for controlled in kernel.threads:
            if controlled.died_of is not None:
                raise controlled.died_of
        ran = Ran(results[0] if results else None, left, kernel, kernel.abort_rest(), trace)
        strategy.end(kernel.points)
        return ran

    def many(
        self, program: Callable[[list[Any]], Any], executions: int = 200, strategy: str = "portfolio", seed: int = 1
    ) -> list[Ran]:
        chosen = make_strategy(strategy, seed)
        return [self.once(program, chosen, number) for number in range(executions)]

    def replay(self, program: Callable[[list[Any]], Any], ran: Ran) -> Ran:
        return self.once(program, Replay(Schedule("0" * 12, "0" * 8, tuple(ran.kernel.choices))))


def busy(trace):
    """Queue, Condition, Future with time-out, ThreadPoolExecutor and as_completed in one."""
    box: queue.Queue[int] = queue.Queue(2)
    changed = threading.Condition()

    def produce(number):
        box.put(number)
        trace.append(("put", number, round(time.monotonic(), 6)))
        with changed:
            changed.notify_all()

    with concurrent.futures.ThreadPoolExecutor(3) as executor:
        futures = {executor.submit(produce, number) for number in range(4)}
        with changed:
            changed.wait(timeout=0.01)
        for _ in range(4):
            trace.append(("got", box.get()))
        for future in concurrent.futures.as_completed(futures):
            trace.append(("done", future.result()))
    lonely: concurrent.futures.Future[None] = concurrent.futures.Future()
    with pytest.raises(TimeoutError):
        lonely.result(timeout=0.5)
    return tuple(trace)


@pytest.fixture
def busy_program():
    return busy


@pytest.fixture(scope="session")
def bench() -> Bench:
    return Bench()
