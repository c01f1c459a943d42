"""closed-rejects: what begins after the service is known to be closing is refused, and no session opens after close().

Read literally, "nothing is accepted after close begins" is wrong: a submit that overlaps a close may take effect first.
Only what is over tells: a close() that returned, a refusal that said closed, a state that was reported.
"""

from __future__ import annotations

from harness.history import Event
from harness.invariants.index import FOREVER, Index
from harness.invariants.judgement import NOT_OCCURRED, Invariant, Judgement
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "closed-rejects"


def check(index: Index) -> Judgement:
    """Premise: a submit begins after the service was known to be closing, or a session opens after close() returned."""
    closing = _known_closing(index)
    if closing is None:
        return NOT_OCCURRED
    checked = 0
    violations: list[Violation] = []
    for call in index.submits:
        if call.begin.seq > closing.seq:
            checked += 1
            if call.answered("accepted"):
                message = f"{call.begin.task} was accepted after {_how(closing)}"
                violations.append(Violation(_ID, message, (closing.seq, call.begin.seq)))
    closed = index.closed_at
    late = [call for call in index.opens if closed and closed.seq < call.begin.seq < _next_service(index, closed)]
    violations.extend(_opened_late(closed, call.begin) for call in late if closed)
    return Judgement(checked + len(late), tuple(violations))


def _next_service(index: Index, closed: Event) -> int:
    """When another service began to open after this one was closed: whose a session is, nobody can say from then on."""
    later = [call.begin.seq for call in index.service_opens if call.begin.seq > closed.seq]
    return min(later, default=FOREVER)


def _known_closing(index: Index) -> Event | None:
    signs: list[Event] = []
    for event in index.of("service-close-end"):
        if event.attrs["answer"] == "returned":
            signs.append(event)
            break
    for event in index.of("submit-end"):
        if event.attrs.get("refusal") == "closed":
            signs.append(event)
            break
    for event in index.of("state"):
        if event.attrs["state"] != "accepting":
            signs.append(event)
            break
    return min(signs, key=_seq) if signs else None


def _seq(event: Event) -> int:
    return event.seq


def _how(closing: Event) -> str:
    if closing.kind == "submit-end":
        return f"{closing.task} had been refused as closed"
    if closing.kind == "state":
        return f"the service had said that it was {closing.attrs['state']}"
    return "close() had returned"


def _opened_late(closed: Event, begin: Event) -> Violation:
    return Violation(_ID, f"session {begin.session} was opened after close() had returned", (closed.seq, begin.seq))


INVARIANT = Invariant(
    id=_ID,
    statement="What is submitted once the service is known to close is refused; no session opens after close().",
    check=check,
)
