"""Whether a task may have been REPLACED: only a newer one of its class takes the place of one that waits."""

from __future__ import annotations

from collections.abc import Iterator

from harness.invariants.index import FOREVER, Call, Index, Task
from harness.verdict import Violation

__all__ = ["REPLACING", "wrongly_replaced"]

REPLACING = frozenset({"replace-oldest", "keep-latest"})
"""The overflow policies that replace."""


def wrongly_replaced(index: Index, invariant: str) -> Iterator[Violation]:
    """A violation for each task that was REPLACED though nothing explains it."""
    for task in index.tasks.values():
        if task.outcome != "REPLACED":
            continue
        seen = task.delivers[0]
        if message := _why_wrong(index, task, seen.seq):
            yield Violation(invariant, f"{task.id} was REPLACED{message}", (task.submit.begin.seq, seen.seq))


def _why_wrong(index: Index, task: Task, seen: int) -> str:
    if index.request_class(task.request_class).overflow not in REPLACING:
        return ", and its class does not replace"
    if task.runs:
        return " although it was started"
    if not any(_newer(index, call, task, seen) for call in index.submits):
        return ", and no newer task of its class was accepted"
    return ""


def _newer(index: Index, call: Call, task: Task, seen: int) -> bool:
    """Whether this submit may have taken the task's place: it took effect after the task's own, before it was seen."""
    other = index.tasks[call.begin.task or ""]
    if other is task or other.request_class != task.request_class or call.answered("refused"):
        return False
    over = FOREVER if call.end is None else call.end.seq
    return call.begin.seq < seen and over > task.submit.begin.seq
