"""fresh-only: a result for an outdated context or model version is not applied.

What a subscriber was told counts from the return of the call that told it: a result that is applied meanwhile may have
been found fresh before. Contexts and versions are those of the task, not those that the result names.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.history import Event
from harness.invariants.index import Index, whole
from harness.invariants.judgement import NOT_OCCURRED, Invariant, Judgement
from harness.invariants.versions import FIRST_VERSION, end_of, versions_of
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "fresh-only"


def check(index: Index) -> Judgement:
    """Premise: a result was applied."""
    applied = index.of("applied")
    if not applied:
        return NOT_OCCURRED
    violations: list[Violation] = []
    unknown = ""
    for event in applied:
        if event.task not in index.tasks:
            unknown = "a result was applied that is of no known task"
            continue
        violations.extend(list(_problems(index, event))[:1])
    return Judgement(len(applied), tuple(violations), unknown)


def _problems(index: Index, event: Event) -> Iterator[Violation]:
    context = _context(index, event)
    for other in index.of("applied"):
        if other.seq >= event.seq or not _same(event, other) or other.task not in index.tasks:
            continue
        newer = _context(index, other)
        if newer > context or other.task == event.task:
            message = f"{event.task} of context {context} was applied after {other.task} of context {newer}"
            yield Violation(_ID, message, (other.seq, event.seq))
    for call in index.calls("expect-context"):
        if _same(event, call.begin) and end_of(call) < event.seq and whole(call.begin.attrs["context"], 0) > context:
            message = f"{event.task} was applied, and its context {context} was of no interest any more"
            yield Violation(_ID, message, (call.begin.seq, event.seq))
    yield from _of_an_older_model(index, event)


def _of_an_older_model(index: Index, event: Event) -> Iterator[Violation]:
    versions = versions_of(index, index.tasks[event.task or ""])
    if not versions:
        return
    told = [call for call in index.calls("current-model") if _same(event, call.begin)]
    own = [end_of(call) for call in told if call.begin.attrs["version"] == versions[-1]]
    if versions[-1] == FIRST_VERSION:
        own.append(-1)
    for call in told:
        if call.begin.attrs["version"] == versions[-1] or end_of(call) > event.seq:
            continue
        if all(over < call.begin.seq for over in own):
            message = f"{event.task} of {versions[-1]} was applied, and {call.begin.attrs['version']} was current"
            yield Violation(_ID, message, (call.begin.seq, event.seq))


def _context(index: Index, event: Event) -> int:
    return whole(index.tasks[event.task or ""].submit.begin.attrs.get("context"), whole(event.attrs["context"], 0))


def _same(event: Event, other: Event) -> bool:
    return event.attrs["subscriber"] == other.attrs["subscriber"]


INVARIANT = Invariant(
    id=_ID, statement="A result for an outdated context or model version is not applied.", check=check
)
