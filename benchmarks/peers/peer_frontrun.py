"""Runs the workload under frontrun with its virtual clock. Argument: `dpor` or `random`.

It controls the threads that it makes itself and no others, so it gets the bodies of the program's threads as its
workers; queue, bodies and assertions are the same.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import frontrun
import queue_under_test as workload
from runner import Found, serve

_clock = time.perf_counter
_DEADLOCK_SECONDS = 1.0
_EXECUTIONS = 1_000_000


class Frontrun:
    """Its `explore`, with the longest search that the time allows."""

    def __init__(self, strategy: str) -> None:
        self._strategy = strategy

    def explore(self, kind: str, seconds: float, seed: int, *, stop: bool) -> Found:
        """Explore for so many seconds; until the first failure if `stop`."""
        queue_kind = (workload.BUGS | workload.CORRECT)[kind]
        own: dict[str, Any] = (
            {"max_executions": _EXECUTIONS, "stop_on_first": stop}
            if self._strategy == "dpor"
            else {"max_attempts": _EXECUTIONS, "seed": seed}
        )
        began = _clock()
        result = frontrun.explore(
            setup=lambda: workload.Program(queue_kind),
            workers=[_worker(number) for number in range(len(workload.Program(queue_kind).bodies))],
            invariant=_holds,
            strategy=self._strategy,
            clock="virtual",
            detect_io=False,
            deadlock_timeout=_DEADLOCK_SECONDS,
            reproduce_on_failure=0,
            total_timeout=seconds,
            **own,
        )
        reason = ""
        if result.property_holds is False:
            reason = (result.explanation or "a failure").strip().splitlines()[0][:120]
        return Found(result.num_explored, _clock() - began, reason, result.inconclusive_reason or "")


def _worker(number: int) -> Callable[[workload.Program], None]:
    return lambda program: program.bodies[number]()


def _holds(program: workload.Program) -> bool:
    program.check()
    return True


if __name__ == "__main__":
    serve(Frontrun(sys.argv[1]).explore)
