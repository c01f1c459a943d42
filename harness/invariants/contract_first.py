"""contract-first: malformed input fails before the runtime is called."""

from __future__ import annotations

from harness.history import Event
from harness.invariants.index import Index, Task
from harness.invariants.judgement import NOT_OCCURRED, Invariant, Judgement
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "contract-first"


def check(index: Index) -> Judgement:
    """Premise: a malformed submit was refused for what it is, or its task ran or ended.

    One that was refused as full or closed, or cancelled before it ran, says nothing. A malformed input that the service
    changed on its way is not known at the seam; then the outcome alone tells.
    """
    checked = 0
    violations: list[Violation] = []
    for task in index.tasks.values():
        if not task.malformed:
            continue
        if problem := _reached(task) or _succeeded(task):
            checked += 1
            violations.append(problem)
        elif task.outcome == "FAILED" or _converted(task) or _refused(task):
            checked += 1
    return Judgement(checked, tuple(violations)) if checked else NOT_OCCURRED


def _refused(task: Task) -> bool:
    end = task.submit.end
    return end is not None and end.attrs.get("refusal") in {"contract", "unclassified"}


def _reached(task: Task) -> Violation | None:
    for run in task.runs:
        event = run.bind_end
        if event is not None and event.attrs.get("reached_runtime"):
            return _violation(f"the malformed input of {task.id} was handed to the runtime", task, event)
    return None


def _converted(task: Task) -> bool:
    """Whether the service made it well-formed with the same values: another byte order can be read right."""
    return task.outcome == "SUCCEEDED" and task.delivers[0].attrs.get("output") == "match"


def _succeeded(task: Task) -> Violation | None:
    if task.outcome == "SUCCEEDED" and not _converted(task):
        return _violation(f"{task.id} SUCCEEDED on a malformed input", task, task.delivers[0])
    return None


def _violation(message: str, task: Task, event: Event) -> Violation:
    return Violation(_ID, message, (task.submit.begin.seq, event.seq))


INVARIANT = Invariant(id=_ID, statement="Malformed input fails before the runtime is called.", check=check)
