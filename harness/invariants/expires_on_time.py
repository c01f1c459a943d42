"""expires-on-time: a deadline fires when it is due, not when the task ahead happens to end.

A service's clock is a thread like any other: that it runs late is the schedule's doing and no violation. What no
schedule explains is a moment at which nobody could move and no time-out was pending (`Index.rests`): whatever was due
by then had its turn. In virtual time such a moment is reached, since time passes only while somebody may still move.

A run budget is judged in the same way: it is a deadline that counts from the start of the run.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.history import Event
from harness.invariants.index import FOREVER, NS_PER_MS, Call, Index, Run, Task
from harness.invariants.judgement import NOT_OCCURRED, Invariant, Judgement
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "expires-on-time"
_ROUNDING_NS = 1_000
"""A deadline is a float in the service and whole milliseconds in the history."""


def check(index: Index) -> Judgement:
    """Premise: a task EXPIRED, or its deadline or its run's budget was over before it was known to have ended."""
    checked = 0
    violations: list[Violation] = []
    for task in index.tasks.values():
        if not task.accepted:
            continue
        problems = [*_too_early(index, task), *_too_late(index, task), *_over_budget(index, task)]
        violations.extend(problems[:1])
        checked += bool(problems) or task.outcome == "EXPIRED" or _was_over(index, task)
    return Judgement(checked, tuple(violations)) if checked else NOT_OCCURRED


def _was_over(index: Index, task: Task) -> bool:
    return any(over <= rest.at_ns for over in _ends_by(index, task) for rest in index.rests)


def _ends_by(index: Index, task: Task) -> Iterator[int]:
    if task.due is not None and task.due[1] < FOREVER:
        yield task.due[1]
    budget = index.service("run_budget_ms")
    if isinstance(budget, int) and task.runs:
        yield task.runs[0].first.at_ns + budget * NS_PER_MS


def _too_early(index: Index, task: Task) -> Iterator[Violation]:
    expired = next((event for event in task.delivers if event.attrs["outcome"] == "EXPIRED"), None)
    if expired is None:
        return
    begin = task.submit.begin
    if task.due is None:
        yield Violation(_ID, f"{task.id} EXPIRED and had no deadline", (begin.seq, expired.seq))
    elif (seen := _seen_expired(task, expired)).at_ns < task.due[0] - _ROUNDING_NS:
        early = round((task.due[0] - seen.at_ns) / NS_PER_MS)
        yield Violation(_ID, f"{task.id} EXPIRED {early} ms before it was due", (begin.seq, seen.seq))
    elif expired.attrs.get("expired_kind") == "queued" and task.runs and not _for_another(index, task, task.runs[0]):
        ran = task.runs[0].first
        yield Violation(_ID, f"{task.id} EXPIRED while it waited, and it ran", (ran.seq, expired.seq))


def _for_another(index: Index, task: Task, run: Run) -> bool:
    """Whether the run may have been made for an equal request, which was not given up: the input is the first one's."""
    return task.key is not None and any(
        other is not task and other.accepted and other.key == task.key and other.submit.begin.seq < run.first.seq
        for other in index.tasks.values()
        if other.outcome not in {"EXPIRED", "CANCELLED", "REPLACED"}
    )


def _seen_expired(task: Task, expired: Event) -> Event:
    told = task.ended
    return told if told is not None and told.attrs["how"] == "EXPIRED" and told.seq < expired.seq else expired


def _too_late(index: Index, task: Task) -> Iterator[Violation]:
    if task.due is None:
        return
    for run in task.runs:
        if (before := _free_after(index, run, task.due[1])) and not _for_another(index, task, run):
            message = f"{task.id} was started after its deadline"
            yield Violation(_ID, message, (task.submit.begin.seq, before.seq, run.first.seq))
    for rest in index.rests:
        if rest.at_ns >= task.due[1] and (proof := _had_not_ended(index, task, rest)):
            message = f"the deadline of {task.id} was over, nobody could move, and it had not EXPIRED"
            yield Violation(_ID, message, (task.submit.begin.seq, rest.seq, proof.seq))


def _free_after(index: Index, run: Run, due: int) -> Event | None:
    """An event at or after `due` that lies before the moment at which the service decided to start this run.

    The thread was in another run, or nobody could move.
    """
    for other in index.runs:
        if other.first.thread == run.first.thread and other.over < run.first.seq and other.last.at_ns >= due:
            return other.last
    return next((rest for rest in index.rests if rest.at_ns >= due and rest.seq < run.first.seq), None)


def _over_budget(index: Index, task: Task) -> Iterator[Violation]:
    budget = index.service("run_budget_ms")
    if not isinstance(budget, int):
        return
    for run in task.runs:
        for rest in index.rests:
            over = run.first.at_ns + budget * NS_PER_MS
            if not (run.first.seq < rest.seq < run.over and rest.at_ns >= over):
                continue
            if proof := _had_not_ended(index, task, rest):
                message = f"the run of {task.id} was over its budget, nobody could move, and the task had not ended"
                yield Violation(_ID, message, (run.first.seq, rest.seq, proof.seq))


def _had_not_ended(index: Index, task: Task, rest: Event) -> Event | None:
    """What shows that the task had no outcome at this moment, None where nothing does."""
    end = task.submit.end
    if end is None or end.seq > rest.seq:
        return None
    for call in index.waits:
        if call.begin.task == task.id and _waited_at(call, rest):
            return call.begin
    if task.outcome == "SUCCEEDED":
        return next((run.first for run in task.runs if run.over > rest.seq), None) if len(task.runs) == 1 else None
    return None


def _waited_at(call: Call, rest: Event) -> bool:
    """Whether a wait was open at that moment, or began after it and timed out all the same."""
    if call.begin.seq > rest.seq:
        return call.answered("timed-out")
    return call.end is None or call.end.seq > rest.seq


INVARIANT = Invariant(
    id=_ID,
    statement="A deadline fires when it is due, nothing starts after its deadline, and nothing EXPIRED before it.",
    check=check,
)
