"""Which sessions are of no use any more, and since when that was known."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from harness.history import Event
from harness.invariants.index import FOREVER, NS_PER_MS, Index, Run, Session

__all__ = ["Lost", "lost_sessions"]


class Lost(msgspec.Struct, frozen=True):
    """A session in doubt: `run` is the last that may be on it, `seen` shows it, `how` completes "the session ...".

    `neighbours`: the other sessions are in doubt, too.
    """

    session: Session
    run: Run
    seen: Event
    how: str
    neighbours: bool


def lost_sessions(index: Index) -> Iterator[Lost]:
    """Those whose run took longer than its budget and has returned, or ended with an error that says so."""
    asks = bool(index.service("health_check"))
    for session in index.sessions.values():
        for run in session.runs:
            if run.over == FOREVER:
                continue
            scope = str(run.last.attrs.get("scope") or "")
            late = _over_budget(index, run)
            if scope:
                how = "was lost" if scope == "context" else "was lost with its device"
                yield Lost(session, run, run.last, how, scope == "device")
            elif late is not None:
                yield Lost(session, run, late, "was over its budget", asks)


def _over_budget(index: Index, run: Run) -> Event | None:
    """What shows, while the call is in flight, that its service must have given it up."""
    budget = index.service("run_budget_ms")
    if not isinstance(budget, int):
        return None
    task = index.tasks.get(run.first.task or "")
    due = run.first.at_ns + budget * NS_PER_MS
    rests = (each for each in index.rests if run.first.seq < each.seq < run.over and each.at_ns >= due)
    failed = () if task is None or task.outcome != "FAILED" else task.delivers
    told = (each for each in failed if run.first.seq < each.seq < run.over)
    return min((*rests, *told), key=_seq, default=None)


def _seq(event: Event) -> int:
    return event.seq
