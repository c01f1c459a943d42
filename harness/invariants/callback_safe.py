"""callback-safe: done-callbacks run once, on a thread that may run them, with no lock held, and kill nobody.

A client's thread is there for the client: its callbacks run on it only inside a call of its own that ended the task
or that added the callback. Whether a lock is held shows when the callback waits for a thread that needs it.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.history import Event
from harness.invariants.index import Call, Index
from harness.invariants.judgement import NOT_OCCURRED, Invariant, Judgement
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "callback-safe"
_ENDING = ("cancel", "submit", "service-close", "add-callback")
"""The calls in which a task can end or a callback can be run, by kind."""


def check(index: Index) -> Judgement:
    """Premise: a callback was added to a future."""
    added = index.calls("add-callback")
    if not added:
        return NOT_OCCURRED
    calls = index.calls("callback")
    violations: list[Violation] = []
    for call in calls:
        violations.extend(_one(index, call))
    if index.quiescent:
        violations.extend(_counted(index, added, calls))
    return Judgement(len(added), tuple(violations))


def _one(index: Index, call: Call) -> Iterator[Violation]:
    begin, task = call.begin, call.begin.task
    if begin.attrs["done"] is False:
        yield Violation(_ID, f"a callback of {task} was run before {task} had ended", (begin.seq,))
    if _is_client(index, begin.thread) and not _has_reason(index, begin):
        message = f"a callback of {task} was run on the client's thread {begin.thread}, which had not ended {task}"
        yield Violation(_ID, message, (begin.seq,))
    for stuck in index.of("stuck") if call.end is None else ():
        if stuck.attrs["holder"] == begin.thread and str(stuck.attrs["waits_for"]).startswith("lock "):
            message = f"a callback of {task} was run with a lock held that {stuck.thread} waits for"
            yield Violation(_ID, message, (begin.seq, stuck.seq))
            break
    if call.answered("raised") and index.quiescent and call.end is not None:
        yield from _killed(index, call.end)


def _is_client(index: Index, thread: str) -> bool:
    return thread == "script" or any(event.thread == thread for event in index.of("actor-begin"))


def _has_reason(index: Index, begin: Event) -> bool:
    """Whether the thread was in a call that may run this callback: one that can end a task, or the adding of it."""
    for kind in _ENDING:
        for call in index.calls(kind):
            inside = call.begin.seq < begin.seq and (call.end is None or begin.seq < call.end.seq)
            of_this_task = kind in {"service-close", "submit"} or call.begin.task == begin.task
            if call.begin.thread == begin.thread and inside and of_this_task:
                return True
    return False


def _killed(index: Index, raised: Event) -> Iterator[Violation]:
    """A thread of the service that did nothing more after a callback had raised on it, though tasks were left."""
    if _is_client(index, raised.thread) or not any(run.first.thread == raised.thread for run in index.runs):
        return
    silent = not any(event.thread == raised.thread and event.seq > raised.seq for event in index.history.events)
    left = next((task for task in index.tasks.values() if task.pending is not None), None)
    if silent and left is not None and left.pending is not None:
        message = (
            f"a callback of {raised.task} raised on {raised.thread}, which did nothing more, and {left.id} never ended"
        )
        yield Violation(_ID, message, (raised.seq, left.pending.seq))


def _counted(index: Index, added: list[Call], calls: list[Call]) -> Iterator[Violation]:
    """At rest each callback of a task that ended has been run, once."""
    for task in index.tasks.values():
        wanted = [call for call in added if call.begin.task == task.id and call.end is not None]
        run = [call.begin for call in calls if call.begin.task == task.id]
        if len(run) > len(wanted) and len(wanted) == sum(call.begin.task == task.id for call in added):
            yield Violation(_ID, f"a callback of {task.id} was run {len(run)} times", tuple(each.seq for each in run))
        if wanted and task.delivers and len(run) < len(wanted) and not any(call.end is None for call in calls):
            message = f"{task.id} is {task.outcome}, and a callback of it was never run"
            yield Violation(_ID, message, (wanted[0].begin.seq, task.delivers[0].seq))


INVARIANT = Invariant(
    id=_ID,
    statement="Callbacks run once, on a thread that may run them, with no lock held, and cannot kill a worker.",
    check=check,
)
