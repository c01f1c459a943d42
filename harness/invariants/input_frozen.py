"""input-frozen: what runs is what was submitted, whatever the caller does to its array afterwards."""

from __future__ import annotations

from harness.history import Event
from harness.invariants.index import Index
from harness.invariants.judgement import NOT_OCCURRED, Invariant, Judgement
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "input-frozen"


def check(index: Index) -> Judgement:
    """Premise: a caller overwrote its input after the submit had returned, and the task SUCCEEDED.

    Before the submit has returned the service may not have had the chance to copy, so either input is right.
    """
    if "input-overwritten" not in index.kinds:
        return NOT_OCCURRED
    checked = 0
    violations: list[Violation] = []
    delivered = {event.attrs.get("output"): event for event in index.of("deliver")}
    for task in index.tasks.values():
        if task.overwritten is None or task.input_ambiguous:
            continue
        # Whoever was given the decoy's answer, it is this task's input that was not frozen.
        if (decoy := delivered.get(f"overwritten:{task.id}")) is not None:
            checked += 1
            violations.append(_violation(task.id, task.overwritten, decoy))
        elif task.outcome == "SUCCEEDED" and task.delivers[0].attrs["output"] != "indistinguishable":
            checked += 1
    return Judgement(checked, tuple(violations))


def _violation(task: str, overwritten: Event, deliver: Event) -> Violation:
    message = f"{task} ran on what its caller wrote over the input after submitting it"
    return Violation(_ID, message, (overwritten.seq, deliver.seq))


INVARIANT = Invariant(
    id=_ID,
    statement="What runs is what was submitted, whatever the caller does to its array afterwards.",
    check=check,
)
