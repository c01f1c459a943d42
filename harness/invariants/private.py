"""private: a task's error text speaks of that task alone."""

from __future__ import annotations

from harness.invariants.index import Index
from harness.invariants.judgement import Invariant, Judgement
from harness.verdict import Violation

__all__ = ["INVARIANT"]


def check(index: Index) -> Judgement:
    """Premise: the error text of a FAILED task was looked at."""
    checked = 0
    violations: list[Violation] = []
    for event in index.of("deliver"):
        if event.attrs["outcome"] == "FAILED" and "foreign" in event.attrs:
            checked += 1
            if event.attrs["foreign"]:
                message = f"the error text of {event.task} names another task"
                violations.append(Violation("private", message, (event.seq,)))
    return Judgement(checked, tuple(violations))


INVARIANT = Invariant(
    id="private",
    statement="No payload, path or identity in any text, and a task's error text speaks of that task alone.",
    check=check,
)
