"""no-deadlock: no thread waits for ever."""

from __future__ import annotations

from harness.history import Event
from harness.invariants.index import Index
from harness.invariants.judgement import Invariant, Judgement
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "no-deadlock"


def check(index: Index) -> Judgement:
    """Premise: the execution came to rest and the service was closed.

    A daemon thread may wait for ever. A service's other threads may until somebody closes it or it fails to open.
    """
    if not index.quiescent:
        return Judgement(0, (), "the execution did not come to rest" if index.closes else "")
    over = bool(index.closes) or any(call.answered("error") for call in index.service_opens)
    stuck = [event for event in index.of("stuck") if _counts(event, over=over)]
    violations = [Violation(_ID, _message(event), (event.seq,)) for event in stuck]
    threads = {event.thread for event in stuck}
    for call in index.closes:
        if call.end is None and call.begin.thread not in threads:
            message = f"close() on {call.begin.thread} waits for ever"
            violations.append(Violation(_ID, message, (call.begin.seq,)))
    return Judgement(1 if over or violations else 0, tuple(violations))


def _counts(event: Event, *, over: bool) -> bool:
    role = event.attrs["role"]
    return role in {"actor", "client"} or (role == "service" and over)


def _message(event: Event) -> str:
    holder = event.attrs.get("holder")
    held = f", held by {holder}" if holder else ""
    return f"{event.thread} ({event.attrs['role']}) waits for ever for {event.attrs['waits_for']}{held}"


INVARIANT = Invariant(id=_ID, statement="No thread waits for ever.", check=check)
