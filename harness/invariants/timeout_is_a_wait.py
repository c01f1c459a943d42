"""timeout-is-a-wait: a wait that times out leaves the task tracked to its outcome.

That the task's slot is not used before its native call has returned is one-task-per-session.
"""

from __future__ import annotations

from harness.invariants.cancellation import cancel_explained
from harness.invariants.index import Call, Index, Task
from harness.invariants.judgement import NOT_OCCURRED, Invariant, Judgement
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "timeout-is-a-wait"


def check(index: Index) -> Judgement:
    """Premise: a wait for an accepted task timed out."""
    checked = 0
    unknown = ""
    violations: list[Violation] = []
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
    wrong = task.outcome == "SUCCEEDED" and deliver.attrs["output"] not in {"match", "indistinguishable"}
    if wrong and not task.input_ambiguous and not task.malformed:
        return f"a wait for {task.id} timed out, and what {task.id} then delivered was not its own"
    return ""


def _evidence(call: Call, task: Task) -> tuple[int, ...]:
    last = task.delivers[0] if task.delivers else task.pending
    return tuple(event.seq for event in (call.begin, call.end, last) if event is not None)


INVARIANT = Invariant(
    id=_ID,
    statement="A wait that times out leaves the task tracked to its outcome.",
    check=check,
)
