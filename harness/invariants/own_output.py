"""own-output: a delivered output is the oracle's output for that task.

Where equal requests are joined, any of their answers will do: that of a run which began after the request came.
"""

from __future__ import annotations

from harness.history import Event
from harness.invariants.index import INJECTED, Index
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
        elif str(output).startswith("shared:"):
            checked += 1
            violations.extend(_too_old(index, event, str(output)))
        elif output == "indistinguishable":
            unknown = "the oracle cannot tell these tasks apart"
        elif str(output).startswith(INJECTED):
            continue  # what the runtime was made to give: nobody but the runtime is to blame
        elif not task.malformed and not task.input_ambiguous:
            checked += 1
            violations.append(_violation(event, str(output)))
    return Judgement(checked, tuple(violations), unknown)


def _too_old(index: Index, event: Event, output: str) -> list[Violation]:
    """Who joins an equal request shares its answer, but not that of a run which had begun before."""
    other = output.partition(":")[2]
    submitted = index.tasks[event.task or ""].submit.begin
    begun = next((run.first for run in index.tasks[other].runs), None) if other in index.tasks else None
    if begun is None or begun.seq > submitted.seq:
        return []
    message = f"{event.task} was given the output of {other}, whose run had begun before {event.task} was submitted"
    return [Violation("own-output", message, (begun.seq, submitted.seq, event.seq))]


def _violation(event: Event, output: str) -> Violation:
    what, _, other = output.partition(":")
    says = {
        "other-task": f"the output of {other}",
        "overwritten": f"the output for what the caller wrote over the input of {other} after submitting it",
        "torn": "parts of several tasks' outputs",
        "stale": f"the output of {other}, which had ended before",
        "wrong-shape": "an output of another shape",
        "nan": "values that are no numbers",
    }.get(what, "an output that belongs to no task")
    return Violation("own-output", f"{event.task} was given {says}", (event.seq,))


INVARIANT = Invariant(
    id="own-output", statement="A delivered output is the oracle's output for that task.", check=check
)
