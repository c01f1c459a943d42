"""no-deadlock: no thread waits for ever."""

from __future__ import annotations

from harness.history import Event
from harness.invariants.index import Index
from harness.invariants.judgement import Invariant, Judgement
from harness.invariants.stuck import causes
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "no-deadlock"


def check(index: Index) -> Judgement:
    """Premise: the execution came to rest and the service was closed.

    A daemon thread may wait for ever. A service's other threads may until somebody closes it or it fails to open.
    What several threads wait for in the end is one violation: a lock that closes a cycle, a loop that gets nowhere, a
    notification that nobody is left to give.
    """
    if not index.quiescent:
        return Judgement(0, (), "the execution did not come to rest" if index.closes else "")
    over = bool(index.closes) or any(call.answered("error") for call in index.service_opens)
    stuck = index.of("stuck")
    counted = [event for event in stuck if _counts(event, over=over)]
    violations = [
        Violation(_ID, cause.sentence, cause.events) for cause in causes(stuck, counted, closed=_closed(index))
    ]
    threads = {event.thread for event in counted}
    for call in index.closes:
        if call.end is None and call.begin.thread not in threads:
            message = f"close() on {call.begin.thread} waits for ever"
            violations.append(Violation(_ID, message, (call.begin.seq,)))
    return Judgement(1 if over or violations else 0, tuple(violations))


def _counts(event: Event, *, over: bool) -> bool:
    role = event.attrs["role"]
    return role in {"actor", "client"} or (role == "service" and over)


def _closed(index: Index) -> bool:
    """Whether the service was closed and every close() came back."""
    return bool(index.closes) and all(call.end is not None for call in index.closes)


INVARIANT = Invariant(id=_ID, statement="No thread waits for ever.", check=check)
