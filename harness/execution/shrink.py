"""Shrink a failing schedule: fewer exceptions to the default order, the same invariant still broken.

Delta debugging (Zeller and Hildebrandt, TSE 2002) over the schedule's choices. Each candidate is executed and its
own choices are taken on, so the result is always a schedule that really ran.
"""

from __future__ import annotations

from harness.execution.controlled import Execution, Laboratory
from harness.invariants.catalogue import check_all
from harness.schedule import Schedule

__all__ = ["shrink"]

MOST_EXECUTIONS = 200


def shrink(laboratory: Laboratory, schedule: Schedule, failing: Execution, invariant: str) -> Execution:
    """Return the execution with the fewest choices that was found to break `invariant` still."""
    best = failing
    left = MOST_EXECUTIONS
    chunk = max(1, len(best.choices) // 2)
    while left > 0:
        smaller: Execution | None = None
        for start in range(0, len(best.choices), chunk):
            if left <= 0:
                break
            left -= 1
            kept = best.choices[:start] + best.choices[start + chunk :]
            candidate = laboratory.replay(Schedule(schedule.cell, schedule.code, kept))
            if candidate.clean and len(candidate.choices) < len(best.choices) and _breaks(candidate, invariant):
                smaller = candidate
                break
        if smaller is not None:
            best = smaller
            chunk = max(1, min(chunk, len(best.choices) // 2))
        elif chunk == 1:
            break
        else:
            chunk //= 2
    return best


def _breaks(execution: Execution, invariant: str) -> bool:
    return bool(check_all(execution.history)[invariant].violations)
