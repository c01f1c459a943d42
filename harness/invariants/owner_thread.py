"""owner-thread: at any time one thread owns a session, and ownership passes only where something orders the uses."""

from __future__ import annotations

from harness.invariants.index import FOREVER, Call, Index, Run, Session
from harness.invariants.judgement import Invariant, Judgement
from harness.invariants.one_task_per_session import overlapping
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "owner-thread"


def check(index: Index) -> Judgement:
    """Premise: a session was used, and whether each change of thread was ordered is known.

    On a session that the runtime lets several threads run there is nothing to break.
    """
    checked = 0
    violations: list[Violation] = []
    for session in index.sessions.values():
        if not session.runs:
            continue
        handovers = [run.bind_begin.attrs.get("handover") for run in session.runs if run.bind_begin]
        problems: list[Violation] = []
        if session.exclusive:
            problems = _at_once(session) if _shared(session) else []
            if "unordered" in handovers:
                problems.extend(_unordered(session))
        violations.extend(problems)
        if problems or "unknown" not in handovers:
            checked += 1
    return Judgement(checked, tuple(violations))


def _shared(session: Session) -> bool:
    """Whether more than one thread touched the session."""
    thread = session.runs[0].first.thread
    calls = session.closes
    return any(run.first.thread != thread for run in session.runs) or any(c.begin.thread != thread for c in calls)


def _unordered(session: Session) -> list[Violation]:
    found: list[Violation] = []
    for run in session.runs:
        begin = run.bind_begin
        if begin and begin.attrs.get("handover") == "unordered":
            message = f"session {session.name} passed to {begin.thread}, and nothing orders that after its last use"
            found.append(Violation(_ID, message, (begin.seq,)))
    return found


def _at_once(session: Session) -> list[Violation]:
    found: list[Violation] = []
    for a, b in overlapping(session.runs):
        if a.first.thread != b.first.thread:
            message = f"{a.first.thread} and {b.first.thread} had calls on session {session.name} at once"
            found.append(Violation(_ID, message, (a.first.seq, b.first.seq)))
    for run in session.runs:
        for call in session.closes:
            if _other_thread_closes(run, call):
                message = f"{call.begin.thread} closed session {session.name} while {run.first.thread} was using it"
                found.append(Violation(_ID, message, (run.first.seq, call.begin.seq)))
    return found


def _other_thread_closes(run: Run, close: Call) -> bool:
    closed = FOREVER if close.end is None else close.end.seq
    apart = run.first.thread != close.begin.thread
    return apart and run.over > close.begin.seq and closed > run.first.seq


INVARIANT = Invariant(
    id=_ID,
    statement="At any time one thread owns a session, and ownership passes only in order and with no call in flight.",
    check=check,
)
