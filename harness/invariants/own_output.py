"""own-output: a delivered output is the oracle's output for that task."""

from __future__ import annotations

from harness.history import Event
from harness.invariants.index import Index
from harness.invariants.judgement import Invariant, Judgement
from harness.verdict import Violation

__all__ = ["INVARIANT"]


def check(index: Index) -> Judgement:
    """Premise: a task SUCCEEDED with an output that the oracle can tell apart from other tasks'."""
    checked = 0
    unknown = ""
    violations: list[Violation] = []
    tasks = index.tasks
    for event in index.of("deliver"):
        if event.attrs["outcome"] != "SUCCEEDED":
            continue
        output = event.attrs["output"]
        task = tasks[event.task or ""]
        # A malformed input has no right answer, and one that was overwritten during the submit has two.
        if output == "match":
            checked += 1
        elif output == "indistinguishable":
            unknown = "the oracle cannot tell these tasks apart"
        elif not task.malformed and not task.input_ambiguous:
            checked += 1
            violations.append(_violation(event, str(output)))
    return Judgement(checked, tuple(violations), unknown)


def _violation(event: Event, output: str) -> Violation:
    what, _, other = output.partition(":")
    says = {
        "other-task": f"the output of {other}",
        "overwritten": f"the output for what the caller wrote over the input of {other} after submitting it",
        "torn": "parts of several tasks' outputs",
        "stale": f"the output of {other}, which had ended before",
        "wrong-shape": "an output of another shape",
    }.get(what, "an output that belongs to no task")
    return Violation("own-output", f"{event.task} was given {says}", (event.seq,))


INVARIANT = Invariant(
    id="own-output", statement="A delivered output is the oracle's output for that task.", check=check
)
