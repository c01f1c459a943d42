"""owner-thread: at any time one thread owns a session, and ownership passes only where something orders the uses."""

from __future__ import annotations

from harness.history import Event
from harness.invariants.index import FOREVER, Call, Index, Run, Session
from harness.invariants.judgement import Invariant, Judgement
from harness.invariants.one_task_per_session import overlapping
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "owner-thread"


def check(index: Index) -> Judgement:
    """Premise: a session was used, and whether each change of thread was ordered is known.

    On a session that the runtime lets several threads run there is nothing to break, unless it is bound to its thread.
    """
    checked = 0
    violations: list[Violation] = []
    for session in index.sessions.values():
        if not session.runs:
            continue
        uses = [run.bind_begin for run in session.runs if run.bind_begin]
        uses += [call.begin for call in session.resizes]
        handovers = [use.attrs.get("handover") for use in uses]
        problems = _away(session)
        if session.exclusive:
            problems += _at_once(session) if _shared(session) else []
            if "unordered" in handovers:
                problems.extend(_unordered(session, uses))
        violations.extend(problems)
        if problems or "unknown" not in handovers:
            checked += 1
    return Judgement(checked, tuple(violations))


def _shared(session: Session) -> bool:
    """Whether more than one thread touched the session."""
    thread = session.runs[0].first.thread
    calls = (*session.closes, *session.resizes)
    return any(run.first.thread != thread for run in session.runs) or any(c.begin.thread != thread for c in calls)


def _away(session: Session) -> list[Violation]:
    """The runs of a session that is bound to the thread that opened it, on other threads: however well ordered."""
    opened = session.opened
    if opened is None or opened.end is None or not opened.end.attrs.get("thread_bound"):
        return []
    home = opened.begin.thread
    return [
        Violation(_ID, f"{thread} ran {run.what} on session {session.name}, which is bound to {home}", (run.first.seq,))
        for run in session.runs
        if (thread := run.first.thread) != home
    ]


def _unordered(session: Session, uses: list[Event]) -> list[Violation]:
    found: list[Violation] = []
    for begin in uses:
        if begin.attrs.get("handover") == "unordered":
            message = f"session {session.name} passed to {begin.thread}, and nothing orders that after its last use"
            found.append(Violation(_ID, message, (begin.seq,)))
    return found


def _at_once(session: Session) -> list[Violation]:
    found: list[Violation] = []
    for a, b in overlapping(session.runs):
        if a.first.thread != b.first.thread:
            message = f"{a.first.thread} and {b.first.thread} had calls on session {session.name} at once"
            found.append(Violation(_ID, message, (a.first.seq, b.first.seq)))
    for did, calls in (("closed", session.closes), ("resized", session.resizes)):
        for run in session.runs:
            for call in calls:
                if _other_thread_calls(run, call):
                    message = f"{call.begin.thread} {did} session {session.name} while {run.first.thread} was using it"
                    found.append(Violation(_ID, message, (run.first.seq, call.begin.seq)))
    return found


def _other_thread_calls(run: Run, call: Call) -> bool:
    over = FOREVER if call.end is None else call.end.seq
    apart = run.first.thread != call.begin.thread
    return apart and run.over > call.begin.seq and over > run.first.seq


INVARIANT = Invariant(
    id=_ID,
    statement="At any time one thread owns a session, and ownership passes only in order and with no call in flight.",
    check=check,
)
