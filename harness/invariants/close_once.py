"""close-once: sessions are released exactly once, and close() returns, only when closing is done."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from harness.history import Event
from harness.invariants.index import FOREVER, Call, Index, Run, Session
from harness.invariants.judgement import Invariant, Judgement
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "close-once"


def check(index: Index) -> Judgement:
    """Premise: the service was closed, or a session was.

    A close() on a thread that the service must join asks for closing and returns, so it says nothing about being done.
    Of the others the one that returned first is the strictest: what it left undone, the later ones need not have.
    """
    violations = [problem for session in index.sessions.values() if (problem := _session(index, session))]
    if index.closed_at is not None:
        violations.extend(_unfinished_runs(index, index.closed_at))
    violations.extend(_wrong_reason(index))
    unfinished = [call.begin for call in index.closes if call.end is None]
    unknown = "the execution ended before close() could return" if unfinished and not index.quiescent else ""
    if index.quiescent:
        violations.extend(_never_returned(begin) for begin in unfinished)
    checked = len(index.closes) + len(index.of("session-close-begin"))
    return Judgement(checked or len(violations), tuple(violations), unknown)


def _session(index: Index, session: Session) -> Violation | None:
    closes = session.closes
    if _closed_again(closes):
        events = tuple(call.begin.seq for call in closes)
        return Violation(_ID, f"session {session.name} was closed more than once", events)
    opened = session.opened
    if opened is None or opened.end is None or opened.end.attrs["answer"] != "ok":
        return None
    if not closes:
        return _leaked(index, session, opened.end)
    closed = index.closed_at
    if closed is None or opened.begin.seq > closed.seq:
        return None
    begin, end = closes[-1].begin, closes[-1].end
    # Under stress the end of a release is not ordered with the end of close(); its begin is.
    late = FOREVER if end is None else end.seq if index.controlled else begin.seq
    if late < closed.seq:
        return None
    return Violation(_ID, f"close() returned before session {session.name} was released", (closed.seq, begin.seq))


def _closed_again(closes: Sequence[Call]) -> bool:
    """A close that raised has released nothing, as far as anybody knows: another try after it is right."""
    if len(closes) == 1:
        return bool(closes[0].begin.attrs.get("again"))
    return any(
        first.end is None or not first.answered("error") or first.end.seq > second.begin.seq
        for first, second in pairwise(closes)
    )


def _leaked(index: Index, session: Session, opened: Event) -> Violation | None:
    if not index.quiescent:
        return None
    if index.closed_at is not None:
        message = f"close() returned and session {session.name} was never released"
        return Violation(_ID, message, (opened.seq, index.closed_at.seq))
    for call in index.service_opens:
        if call.end and call.end.attrs["answer"] == "error":
            message = f"the service did not open, and session {session.name}, which it had opened, was never released"
            return Violation(_ID, message, (opened.seq, call.end.seq))
    return None


def _unfinished_runs(index: Index, closed: Event) -> list[Violation]:
    return [
        Violation(_ID, f"close() returned while {run.what} was still running", (run.first.seq, closed.seq))
        for run in index.runs
        if _runs_after(run, closed, controlled=index.controlled)
    ]


def _runs_after(run: Run, closed: Event, *, controlled: bool) -> bool:
    return run.over > closed.seq if controlled or run.over == FOREVER else run.last_begin.seq > closed.seq


def _wrong_reason(index: Index) -> list[Violation]:
    """The first reason that was given is the one that counts; of closes that overlap any may be the first."""
    given = [call for call in index.closes if "reason" in call.begin.attrs]
    first = min((call.end.seq for call in index.closes if call.end is not None), default=FOREVER)
    reasons = {call.begin.attrs["reason"] for call in given if call.begin.seq < first}
    found: list[Violation] = []
    for call in given:
        told = call.end.attrs.get("reason") if call.end is not None else None
        if reasons and call.end is not None and len(given) == len(index.closes) and told not in reasons:
            message = f"the service was closed because of {' or '.join(sorted(map(str, reasons)))}, and names {told}"
            found.append(Violation(_ID, message, (call.begin.seq, call.end.seq)))
    return found


def _never_returned(begin: Event) -> Violation:
    return Violation(_ID, f"close() on {begin.thread} has not returned", (begin.seq,))


INVARIANT = Invariant(
    id=_ID,
    statement="Sessions and delegates are released exactly once, and close() returns only when closing is done.",
    check=check,
)
