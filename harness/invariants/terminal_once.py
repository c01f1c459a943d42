"""terminal-once: every accepted task reaches exactly one outcome, and its waiters wake."""

from __future__ import annotations

from harness.invariants.index import Index, Task
from harness.invariants.judgement import Invariant, Judgement
from harness.verdict import Violation

__all__ = ["INVARIANT"]


def check(index: Index) -> Judgement:
    """Premise: a task was accepted."""
    checked = 0
    unknown = ""
    violations: list[Violation] = []
    for task in index.tasks.values():
        if not task.accepted:
            continue
        checked += 1
        violations.extend(_no_future_of_its_own(task))
        if len(task.delivers) == 1 and task.pending is None:
            continue
        if not task.delivers and task.pending is None and not index.quiescent:
            unknown = "the execution ended before every outcome could be looked at"
        else:
            violations.extend(_ends(index, task))
    if index.quiescent:
        violations.extend(_sleepers(index))
    return Judgement(checked, tuple(violations), unknown)


def _no_future_of_its_own(task: Task) -> list[Violation]:
    end = task.submit.end
    other = end.attrs.get("future_of") if end is not None else None
    if end is None or other is None:
        return []
    return [Violation("terminal-once", f"{task.id} was given the future of {other}", (task.submit.begin.seq, end.seq))]


def _ends(index: Index, task: Task) -> list[Violation]:
    if task.delivers and task.pending is not None:
        message = f"{task.id} was {task.outcome}, and at the end its future was unfinished"
        return [Violation("terminal-once", message, (task.delivers[0].seq, task.pending.seq))]
    if not task.delivers:
        close = next((call for call in index.closes if call.end is None), None)
        why = ", and close() never returned" if close else ""
        events = [event.seq for event in (task.submit.end, task.pending, close and close.begin) if event]
        return [Violation("terminal-once", f"{task.id} was accepted and never ended{why}", tuple(events))]
    first = task.delivers[0]
    for other in task.delivers[1:]:
        if other.attrs["outcome"] != first.attrs["outcome"]:
            message = f"{task.id} ended twice: {first.attrs['outcome']}, then {other.attrs['outcome']}"
            return [Violation("terminal-once", message, (first.seq, other.seq))]
    return []


def _sleepers(index: Index) -> list[Violation]:
    # The task ended, and still somebody waits for it: CPython issue 87893 is one way to get there.
    found: list[Violation] = []
    for call in index.waits:
        if call.end is None and call.begin.task:
            task = index.tasks[call.begin.task]
            if task.delivers:
                message = f"{task.id} is {task.outcome}, and a waiter for it on {call.begin.thread} never woke"
                found.append(Violation("terminal-once", message, (call.begin.seq, task.delivers[0].seq)))
    return found


INVARIANT = Invariant(
    id="terminal-once", statement="Every accepted task reaches exactly one outcome, and its waiters wake.", check=check
)
