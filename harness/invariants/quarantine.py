"""quarantine: a slot in an unknown state is not leased again until it has been rebuilt.

Judged where the service tells of its slots. `ready` is only a word: it counts if a session was opened since.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.history import Event
from harness.invariants.index import Index
from harness.invariants.judgement import NOT_OCCURRED, Invariant, Judgement
from harness.verdict import Violation

__all__ = ["INVARIANT"]

_ID = "quarantine"
_UNKNOWN = frozenset({"quarantined", "lost"})


def check(index: Index) -> Judgement:
    """Premise: the service said that a slot was quarantined or lost."""
    told = [event for event in index.of("slot-state") if event.attrs["state"] in _UNKNOWN]
    if not told:
        return NOT_OCCURRED
    violations = [problem for event in told for problem in _leased_again(index, event)]
    return Judgement(len(told), tuple(violations))


def _leased_again(index: Index, told: Event) -> Iterator[Violation]:
    lease = _next(index, "lease-begin", told, told.slot)
    if lease is None:
        return
    says = f"slot {told.slot} was {told.attrs['state']}"
    ready = next((event for event in _states(index, told) if event.attrs["state"] == "ready"), None)
    if ready is None or ready.seq > lease.seq:
        yield Violation(_ID, f"{says}, and was leased to {lease.task} before it was ready again", (told.seq, lease.seq))
    elif not (_opened(index, told, lease) or _went_over(index, told, lease)):
        message = f"{says} and then ready, and no session had been opened for it"
        yield Violation(_ID, message, (told.seq, ready.seq, lease.seq))


def _opened(index: Index, told: Event, lease: Event) -> bool:
    return any(call.end and told.seq < call.end.seq < lease.seq and call.answered("ok") for call in index.opens)


def _went_over(index: Index, told: Event, lease: Event) -> bool:
    """Whether the slot has another session, which a switch of the model had opened for it before."""
    leases = [event for event in index.of("lease-begin") if event.slot == told.slot and event.seq < told.seq]
    before = _session_of(index, leases[-1]) if leases else None
    after = _session_of(index, lease)
    return before is not None and after is not None and before != after


def _session_of(index: Index, lease: Event) -> str | None:
    """What the leased task was run on."""
    task = index.tasks.get(lease.task or "")
    runs = [] if task is None else [run for run in task.runs if run.first.seq > lease.seq]
    return runs[0].first.session if runs else None


def _states(index: Index, after: Event) -> Iterator[Event]:
    return (event for event in index.of("slot-state") if event.seq > after.seq and event.slot == after.slot)


def _next(index: Index, kind: str, after: Event, slot: str | None) -> Event | None:
    return next((event for event in index.of(kind) if event.seq > after.seq and event.slot == slot), None)


INVARIANT = Invariant(
    id=_ID, statement="A slot in an unknown state is not leased again until it has been rebuilt.", check=check
)
