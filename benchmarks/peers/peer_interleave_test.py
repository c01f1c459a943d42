"""Runs the workload under interleave-test. Argument: `sync`, `line` or `opcode`, and a strategy of its."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import interleave_test
import queue_under_test as workload
from runner import Found, serve

_clock = time.perf_counter
_BATCH = 25


class InterleaveTest:
    """Its `explore`, in batches, since it takes a number of schedules and no time."""

    def __init__(self, granularity: str, strategy: str) -> None:
        self._strategy = strategy
        # Nothing lies below a path that does not exist: no line decides then, only the modelled primitives do.
        where = Path(workload.__file__) if granularity != "sync" else Path(__file__).with_name("no-such-folder")
        self._options: dict[str, Any] = {
            "include": [where],
            "granularity": "opcode" if granularity == "opcode" else "line",
            "raise_on_failure": False,
        }

    def explore(self, kind: str, seconds: float, seed: int, *, stop: bool) -> Found:
        """Explore for so many seconds; until the first failure if `stop`."""
        model = _model((workload.BUGS | workload.CORRECT)[kind])
        began, executions, reason = _clock(), 0, ""
        strategy = interleave_test.PCTStrategy() if self._strategy == "pct" else self._strategy
        while _clock() - began < seconds and not (stop and reason):
            result = interleave_test.explore(
                model,
                iterations=_BATCH,
                seed=seed * 100_003 + executions,
                strategy=strategy,
                **self._options,
            )
            executions += result.schedules_run
            if result.failure is not None:
                reason = f"{result.failure.kind}: {result.failure.exception or result.failure.details}"[:120]
        return Found(executions, _clock() - began, reason)


def _model(kind: Any) -> Callable[[], None]:
    def model() -> None:
        workload.run_on_threads(kind)

    return model


if __name__ == "__main__":
    serve(InterleaveTest(sys.argv[1], sys.argv[2]).explore)
