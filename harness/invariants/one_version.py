"""one-version: a result is of one version of the model, the one that its future names, and the right one for its time.

A switch takes effect at some moment of its call. So a task may get any version that was current at some moment of its
submit, and no other: neither one that had been replaced before, nor one that nobody had asked for yet.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.history import Attr, Event
from harness.invariants.index import Index, Task
from harness.invariants.judgement import NOT_OCCURRED, Invariant, Judgement
from harness.invariants.versions import FIRST_VERSION, end_of, models_of, switches, versions_of
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "one-version"


def check(index: Index) -> Judgement:
    """Premise: a task SUCCEEDED on a session whose version is known, and the model was switched, or that was tried."""
    if not index.calls("model-switch"):
        return NOT_OCCURRED
    checked = 0
    violations: list[Violation] = []
    for task in index.tasks.values():
        versions = versions_of(index, task)
        seen = [event for event in task.delivers if event.attrs["outcome"] == "SUCCEEDED"]
        if not seen or not versions:
            continue
        checked += 1
        violations.extend(_problems(index, task, versions, seen))
    stray = any(run.stray for run in index.runs)
    return Judgement(checked, tuple(violations), "a run cannot be told whose it is" if stray else "")


def _problems(index: Index, task: Task, versions: list[Attr], seen: list[Event]) -> Iterator[Violation]:
    runs = tuple(run.first.seq for run in task.runs)
    if len(set(versions)) > 1:
        yield Violation(_ID, f"{task.id} ran on {' and '.join(map(str, versions))}", runs)
        return
    ran, model = versions[0], models_of(index, task)[0]
    other = next((event for event in seen if event.attrs.get("model", model) != model), None)
    if other is not None:
        message = f"{task.id} ran on {ran}, and its output is that of the {other.attrs['model']} model"
        yield Violation(_ID, message, (*runs, other.seq))
    wrong = next((event for event in seen if event.attrs.get("version", ran) != ran), None)
    if wrong is not None:
        message = f"{task.id} ran on {ran}, and its future names {wrong.attrs['version']}"
        yield Violation(_ID, message, (*runs, wrong.seq))
    elif message := _wrong_time(index, task, ran):
        yield Violation(_ID, f"{task.id} {message}", (task.submit.begin.seq, *runs))


def _wrong_time(index: Index, task: Task, ran: Attr) -> str:
    calls = switches(index)
    asked = [(call.begin.seq, end_of(call)) for call in calls if call.begin.attrs["version"] == ran]
    if ran == FIRST_VERSION:
        asked.append((-1, -1))
    if not asked:
        return f"ran on {ran}, to which the service was not switched"
    begin, end = task.submit.begin.seq, end_of(task.submit)
    if all(began > end for began, _ in asked) and not _lost_a_slot(index):
        return f"was accepted before the switch to {ran} had begun, and ran on it"
    done = [call for call in calls if call.answered("switched") and end_of(call) < begin]
    if all(any(call.begin.seq > over for call in done) for _, over in asked):
        return f"was submitted after a switch away from {ran} had returned, and ran on it"
    return ""


def _lost_a_slot(index: Index) -> bool:
    """Where the last session of a version is lost, its tasks may run on the next one, rather than on none."""
    return any(event.attrs["state"] == "lost" for event in index.of("slot-state"))


INVARIANT = Invariant(
    id=_ID,
    statement="A result is of one version of the model, which its future names, and not an outdated one.",
    check=check,
)
