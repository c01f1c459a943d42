"""residency: clients of one model that ask for the resident one share its sessions, and do not load it again."""

from __future__ import annotations

from harness.invariants.index import FOREVER, Index, Session
from harness.invariants.judgement import NOT_OCCURRED, Invariant, Judgement
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "residency"


def check(index: Index) -> Judgement:
    """Premise: two services were opened for one resident model, the second before the first was closed.

    No more sessions than one service has slots may be open at once then. A failed opening is none.
    """
    asked = [call for call in index.service_opens if call.begin.attrs.get("resident") and call.answered("ok")]
    if len(asked) < 2:  # noqa: PLR2004 - two clients
        return NOT_OCCURRED
    first_close = min((call.begin.seq for call in index.closes), default=FOREVER)
    together = [call for call in asked if call.begin.seq < first_close]
    if len(together) < 2:  # noqa: PLR2004 - as above
        return NOT_OCCURRED
    workers = together[0].begin.attrs.get("workers")
    slots = workers if isinstance(workers, int) else 1
    sessions = [session for session in index.sessions.values() if _opened_at(session) < FOREVER]
    for session in sessions:
        at_once = [other for other in sessions if _open_when(other, _opened_at(session))]
        if len(at_once) > slots:
            message = f"{len(at_once)} sessions of one model were open at once, for clients that could share {slots}"
            return Judgement(1, (Violation(_ID, message, tuple(_opened_at(other) for other in at_once)),))
    return Judgement(1)


def _opened_at(session: Session) -> int:
    opened = session.opened
    return opened.end.seq if opened is not None and opened.end is not None and opened.answered("ok") else FOREVER


def _open_when(session: Session, seq: int) -> bool:
    """Whether the session surely was open at that moment: its closing had not begun."""
    closed = session.closes[0].begin.seq if session.closes else FOREVER
    return _opened_at(session) <= seq < closed


INVARIANT = Invariant(
    id=_ID, statement="Clients of one model that ask for the resident one share its sessions.", check=check
)
