"""timeout-is-a-wait: a wait that times out leaves the task tracked to its outcome.

That the task's slot is not used before its native call has returned is one-task-per-session.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.invariants.cancellation import cancel_explained
from harness.invariants.index import INJECTED, Call, Index, Task
from harness.invariants.judgement import NOT_OCCURRED, Invariant, Judgement
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "timeout-is-a-wait"
_RIGHT = ("match", "indistinguishable", "shared:", INJECTED)


def check(index: Index) -> Judgement:
    """Premise: a wait for an accepted task timed out, or a task was submitted as a retry."""
    unknown = ""
    violations: list[Violation] = []
    retries = [call for call in index.submits if call.begin.attrs.get("retry_of") and call.answered("accepted")]
    checked = len(retries)
    violations.extend(problem for call in retries for problem in _no_new_task(call))
    for call in index.waits:
        if not call.answered("timed-out") or call.begin.task is None:
            continue
        task = index.tasks[call.begin.task]
        if not task.delivers and task.pending is None and not index.quiescent:
            unknown = "the execution ended before every outcome could be looked at"
            continue
        checked += 1
        if message := _problem(index, task):
            violations.append(Violation(_ID, message, _evidence(call, task)))
    return Judgement(checked, tuple(violations), unknown) if checked or unknown else NOT_OCCURRED


def _problem(index: Index, task: Task) -> str:
    if not task.delivers:
        return f"a wait for {task.id} timed out, and {task.id} never ended"
    deliver = task.delivers[0]
    if task.outcome == "CANCELLED" and not cancel_explained(index, task, deliver):
        return f"a wait for {task.id} timed out, and {task.id} was CANCELLED though nobody asked"
    wrong = task.outcome == "SUCCEEDED" and not str(deliver.attrs["output"]).startswith(_RIGHT)
    if wrong and not task.input_ambiguous and not task.malformed:
        return f"a wait for {task.id} timed out, and what {task.id} then delivered was not its own"
    return ""


def _no_new_task(call: Call) -> Iterator[Violation]:
    """A retry is a task of its own, with a link to the one that it is a retry of."""
    assert call.end is not None, "an accepted submit has returned"
    task, first = call.begin.task, call.begin.attrs["retry_of"]
    if call.end.attrs.get("future_of") == first:
        yield Violation(_ID, f"{task} was given the future of {first}, which it is a retry of", _ends(call))
    elif not call.end.attrs.get("linked"):
        yield Violation(_ID, f"{task} has no link to {first}, which it is a retry of", _ends(call))


def _ends(call: Call) -> tuple[int, ...]:
    return (call.begin.seq,) if call.end is None else (call.begin.seq, call.end.seq)


def _evidence(call: Call, task: Task) -> tuple[int, ...]:
    last = task.delivers[0] if task.delivers else task.pending
    return tuple(event.seq for event in (call.begin, call.end, last) if event is not None)


INVARIANT = Invariant(
    id=_ID,
    statement="A wait that times out leaves the task tracked to its outcome, and a retry is a new task.",
    check=check,
)
