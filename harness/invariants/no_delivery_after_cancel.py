"""no-delivery-after-cancel: a task reported cancelled never delivers; queued and running cancel are told apart."""

from __future__ import annotations

from harness.history import Event
from harness.invariants.cancellation import cancel_explained, close_explains
from harness.invariants.index import Call, Index, Run, Task
from harness.invariants.judgement import NOT_OCCURRED, Invariant, Judgement
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "no-delivery-after-cancel"
_STRAY = "a run on an input that nobody submitted may be of a task that was cancelled while it was queued"


def check(index: Index) -> Judgement:
    """Premise: a cancel answered True, or it answered False on a task that ran, EXPIRED or was REPLACED."""
    if not index.cancels:
        return NOT_OCCURRED
    checked = 0
    unknown = ""
    violations: list[Violation] = []
    for task in index.tasks.values():
        granted = [call for call in task.cancels if call.granted]
        checked += len(granted)
        if granted:
            violations.extend(_after_true(index, task, granted))
            if not violations and _maybe_stray(index, granted):
                unknown = _STRAY
        elif task.cancels and task.delivers:
            wrong = _after_false(index, task)
            elsewise = task.runs or task.outcome in {"EXPIRED", "REPLACED"}
            checked += sum(1 for call in task.cancels if call.end and (elsewise or wrong))
            violations.extend(wrong)
    return Judgement(checked, tuple(violations), unknown)


def _after_true(index: Index, task: Task, granted: list[Call]) -> list[Violation]:
    found: list[Violation] = []
    for event in task.delivers:
        if event.attrs["outcome"] != "CANCELLED":
            message = f"cancel() of {task.id} answered True, and {task.id} {event.attrs['outcome']}"
            found.append(Violation(_ID, message, (*_ends(granted[0]), event.seq)))
            break
    for call in granted:
        if problem := _misnamed(index, task, call):
            found.append(problem)
            break
    return found


def _after_false(index: Index, task: Task) -> list[Violation]:
    for event in task.delivers:
        if event.attrs["outcome"] == "CANCELLED" and not cancel_explained(index, task, event):
            message = f"cancel() of {task.id} answered False, and {task.id} was CANCELLED with no other cause"
            return [Violation(_ID, message, (*_ends(task.cancels[0]), event.seq))]
    return []


def _misnamed(index: Index, task: Task, call: Call) -> Violation | None:
    end = call.end
    kind = end.attrs.get("cancel_kind") if end else None
    if kind is None and end and index.service("running_cancel") and not close_explains(index, task, end):
        # After a close had dropped the task, True only says that it is CANCELLED.
        message = f"cancel() of {task.id} answered True and did not say whether it was queued or running"
        return Violation(_ID, message, _ends(call))
    # A running cancel of a task that was never bound is right: a worker had taken it and had not come to bind.
    # Where equal requests are joined, a run on the input of one is for all who have not cancelled.
    if kind != "queued" or _shares_a_run(index, task):
        return None
    for run in task.runs:
        if ran := _beside(index, run, call):
            message = f"{task.id} was cancelled as queued, and it {ran[0]}"
            return Violation(_ID, message, (*_ends(call), ran[1].seq))
    return None


def _shares_a_run(index: Index, task: Task) -> bool:
    return task.key is not None and any(
        other is not task and other.accepted and other.key == task.key for other in index.tasks.values()
    )


def _beside(index: Index, run: Run, call: Call) -> tuple[str, Event] | None:
    """Say how the run's invoke lies outside the cancel; an invoke that only overlaps it proves nothing."""
    precedes = index.history.precedes
    for event in (run.invoke_begin, run.invoke_end):
        if event and precedes(event, call.begin):
            return "was running already", event
    if run.invoke_begin and call.end and precedes(call.end, run.invoke_begin):
        return "ran afterwards", run.invoke_begin
    return None


def _maybe_stray(index: Index, granted: list[Call]) -> bool:
    queued = [call for call in granted if call.end and call.end.attrs.get("cancel_kind") == "queued"]
    return any(run.stray and _beside(index, run, call) for run in index.runs for call in queued)


def _ends(call: Call) -> tuple[int, ...]:
    return (call.begin.seq, call.end.seq) if call.end else (call.begin.seq,)


INVARIANT = Invariant(
    id=_ID,
    statement="A task reported cancelled never delivers, and queued and running cancel are told apart.",
    check=check,
)
