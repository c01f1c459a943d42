"""one-task-per-session: at most one task is between bind and fetch on a session, and a slot has one lease."""

from __future__ import annotations

from collections.abc import Iterator

from harness.history import Event
from harness.invariants.index import Index, Run
from harness.invariants.judgement import NOT_OCCURRED, Invariant, Judgement
from harness.verdict import Violation

__all__ = ["INVARIANT", "overlapping", "shared_sessions"]

_ID = "one-task-per-session"


def check(index: Index) -> Judgement:
    """Premise: a run began. On a session that the runtime lets several threads run, overlapping is no violation."""
    if not index.runs:
        return NOT_OCCURRED
    violations: list[Violation] = []
    for session in index.sessions.values():
        if session.exclusive and len(session.runs) > 1:
            violations.extend(_violation(session.name, a, b) for a, b in overlapping(session.runs))
    if "lease-begin" in index.kinds:
        violations.extend(_leases(index))
    return Judgement(len(index.runs), tuple(violations))


def shared_sessions(index: Index) -> tuple[str, ...]:
    """The sessions, of those that allow it, that several runs did share: a finding, not a violation."""
    return tuple(
        session.name
        for session in index.sessions.values()
        if not session.exclusive and next(overlapping(session.runs), None)
    )


def overlapping(runs: list[Run]) -> Iterator[tuple[Run, Run]]:
    """Each run that began before an earlier one on its session was over, after the one that lasts longest of those."""
    longest: Run | None = None
    for run in runs:
        if longest is not None and run.first.seq < longest.over:
            yield longest, run
        if longest is None or run.over > longest.over:
            longest = run


def _violation(session: str, a: Run, b: Run) -> Violation:
    message = f"session {session} had two runs at once: {a.what} on {a.first.thread} and {b.what} on {b.first.thread}"
    return Violation(_ID, message, (a.first.seq, b.first.seq))


def _leases(index: Index) -> list[Violation]:
    found: list[Violation] = []
    held: dict[str | None, Event] = {}
    events = sorted((*index.of("lease-begin"), *index.of("lease-end")), key=_seq)
    for event in events:
        if event.kind == "lease-end":
            held.pop(event.slot, None)
            continue
        if (other := held.get(event.slot)) is not None:
            message = f"slot {event.slot} was leased to {event.task} while {other.task} had it"
            found.append(Violation(_ID, message, (other.seq, event.seq)))
        held[event.slot] = event
    return found


def _seq(event: Event) -> int:
    return event.seq


INVARIANT = Invariant(
    id=_ID, statement="At most one task is between bind and fetch on a session, and a slot has one lease.", check=check
)
