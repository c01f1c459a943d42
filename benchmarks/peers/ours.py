"""Runs the workload under racegate's engine alone: no history, no invariants, the program's own assertions.

Arguments: `threads` or `greenlets`, `sync` or `statement`, and the core that this must be: `compiled` or `interpreted`.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from runner import Found, serve

from harness.engine.carriers.greenlets import GreenletCarriers
from harness.engine.carriers.os_thread import OsThreadCarriers
from harness.engine.compiling import core
from harness.engine.install import install, reset_names
from harness.engine.instrument.loader import Instrumenter
from harness.engine.kernel import Kernel
from harness.engine.primitives.thread import start_controlled
from harness.engine.strategies.portfolio import make_strategy
from harness.engine.threads import State

COLLECT_EVERY = 64
"""As the harness has it."""
_clock = time.perf_counter  # the real one, bound before the engine replaces it


def load(*, statements: bool) -> Any:
    """The queue's module, instrumented if statements are decision points."""
    path = Path(__file__).with_name("queue_under_test.py")
    module = ModuleType("queue_under_test")
    module.__file__ = str(path)
    if statements:
        instrumenter = Instrumenter([])
        code = instrumenter.compile_file(path.read_bytes(), str(path))
        instrumenter.prepare(module)
    else:
        code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    sys.modules["queue_under_test"] = module
    exec(code, module.__dict__)  # noqa: S102 - our own file
    return module


class Ours:
    """One engine, reused from execution to execution."""

    def __init__(self, carrier: str, granularity: str) -> None:
        install()
        self._statements = granularity == "statement"
        self._module = load(statements=self._statements)
        install()
        self._holding_shows = False
        self._carriers: Any = GreenletCarriers() if carrier == "greenlets" else OsThreadCarriers()
        gc.collect()
        gc.freeze()  # as the harness itself does, with a collection every so many executions
        gc.disable()

    def explore(self, kind: str, seconds: float, seed: int, *, stop: bool) -> Found:
        """Explore for so many seconds; until the first failure if `stop`."""
        strategy = make_strategy("portfolio", seed)
        queue_kind = (self._module.BUGS | self._module.CORRECT)[kind]
        began, executions, reason = _clock(), 0, ""
        while _clock() - began < seconds and not (stop and reason):
            strategy.begin(executions)
            reason = self._once(queue_kind, strategy) or reason
            executions += 1
            if executions % COLLECT_EVERY == 0:
                gc.collect()
        return Found(executions, _clock() - began, reason)

    def _once(self, kind: Any, strategy: Any) -> str:
        reset_names()
        kernel = Kernel(self._carriers, strategy)
        kernel.at_statements = self._statements
        kernel.releases_decide = self._holding_shows
        main = threading.Thread(target=self._module.run_on_threads, args=(kind,))
        start_controlled(kernel, main, name="main", role="actor")
        kernel.go()
        self._holding_shows |= kernel.holding_shows
        reason = _why(kernel)
        if kernel.abort_rest():
            kernel.forget()
        strategy.end(kernel.points)
        return reason


def _why(kernel: Kernel) -> str:
    for thread in kernel.threads:
        if thread.died_of is not None:
            return f"{type(thread.died_of).__name__}: {thread.died_of}"
    left = [thread.name for thread in kernel.threads if thread.state is not State.DONE]
    return f"blocked for ever: {', '.join(left)}" if left else ""


if __name__ == "__main__":
    assert core() == sys.argv[3], f"this core is {core()}"
    serve(Ours(sys.argv[1], sys.argv[2]).explore)
