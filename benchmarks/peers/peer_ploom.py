"""Runs the workload under ploom, which sees its own operations and no others; says what became of it."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import ploom
import queue_under_test as workload
from runner import Found, serve

_clock = time.perf_counter


def explore(kind: str, seconds: float, seed: int, *, stop: bool) -> Found:
    """Its `check`, which ends when it has tried every order of its operations, at the first failure, or at a limit."""
    del seed, stop
    queue_kind: Any = (workload.BUGS | workload.CORRECT)[kind]

    def scenario() -> None:
        workload.run_on_threads(queue_kind)

    began, reason, executions = _clock(), "", 0
    try:
        with tempfile.TemporaryDirectory() as folder:
            statistics = ploom.check(
                scenario, config=ploom.Config(timeout=float(seconds), max_executions=100_000), trace_dir=Path(folder)
            )
        executions = statistics.executions
    except ploom.ModelCheckError as error:
        reason = f"{error.failure.exception_type}: {error.failure.message}"[:120]
        executions = error.statistics.executions
    except ploom.IncompleteExplorationError as error:
        return Found(error.statistics.executions, _clock() - began, "", f"incomplete: {error.limit} limit reached")
    return Found(executions, _clock() - began, reason)


if __name__ == "__main__":
    serve(explore)
