"""What a service tells of its recoveries: whether the steps are in order, and whether what can be seen bears it out."""

from __future__ import annotations

from collections.abc import Iterator

from harness.history import Event
from harness.invariants.index import FOREVER, Index, Run, Session

__all__ = ["told_recoveries"]

_ORDER = ("mark", "ask", "isolate", "wake", "invalidate", "reclaim", "collect", "rebuild", "neighbours")
"""`confirm` is told before or after `wake`, whenever the call returns; after `keep` nothing is rebuilt."""
_NEEDS = {"invalidate": "confirm", "rebuild": "collect", "wake": "mark"}

Breach = tuple[str, tuple[int, ...]]
"""What is wrong, and the events that show it."""


def told_recoveries(index: Index) -> Iterator[list[Breach]]:
    """The breaches of each recovery that was told, from one `mark` of a slot to its next."""
    slots: dict[str, list[Event]] = {}
    for event in index.of("recovery-step"):
        steps = slots.setdefault(event.slot or "", [])
        if event.attrs["step"] == "mark" and steps:
            yield list(_breaches(index, steps))
            steps.clear()
        steps.append(event)
    for steps in slots.values():
        yield list(_breaches(index, steps))


def _breaches(index: Index, steps: list[Event]) -> Iterator[Breach]:
    reached: dict[str, Event] = {}
    for event in steps:
        name = str(event.attrs["step"])
        before = [other for other in reached if _rank(other) > _rank(name) >= 0]
        if before:
            yield f"{event.slot} told {name} after {before[0]}", (reached[before[0]].seq, event.seq)
        need = _NEEDS.get(name)
        if need is not None and need not in reached:
            yield f"{event.slot} told {name} and had not told {need}", (event.seq,)
        says = _untrue(index, event, name, reached.get("mark", event)) if index.controlled else ""
        if says:
            yield f"{event.slot} told {name}, and {says}", (event.seq,)
        reached[name] = event


def _rank(name: str) -> int:
    return _ORDER.index(name) if name in _ORDER else -1


def _untrue(index: Index, event: Event, name: str, mark: Event) -> str:
    """What was seen instead."""
    if name == "ask" and not any(mark.seq < each.seq < event.seq for each in index.of("interrupt")):
        return "no session had been interrupted"
    run = _run_of(index, event)
    if run is None:
        return ""
    session = index.sessions[run.first.session or ""]
    if name == "confirm" and run.over > event.seq:
        return f"the call of {run.what} had not returned"
    closed = min((call.end.seq for call in session.closes if call.end is not None), default=FOREVER)
    if name == "reclaim" and closed > event.seq:
        return f"session {session.name} had not been released"
    if name == "rebuild" and not _replaced(index, event):
        return "no session had been opened, and the slot was not lost"
    return ""


def _replaced(index: Index, event: Event) -> bool:
    """Whether the slot's worker has a session that it has not closed, or the slot was said to be lost."""
    return any(_is_open(session, event) for session in index.sessions.values()) or any(
        each.slot == event.slot and each.attrs["state"] == "lost" and each.seq < event.seq
        for each in index.of("slot-state")
    )


def _is_open(session: Session, event: Event) -> bool:
    opened = session.opened
    if opened is None or opened.end is None or not opened.answered("ok") or opened.begin.thread != event.thread:
        return False
    return opened.end.seq < event.seq and all(call.begin.seq > event.seq for call in session.closes)


def _run_of(index: Index, event: Event) -> Run | None:
    """The run that the slot had last before it told the step."""
    leases = (each for each in index.of("lease-begin") if each.slot == event.slot and each.seq < event.seq)
    lease = max(leases, key=lambda each: each.seq, default=None)
    task = None if lease is None else index.tasks.get(lease.task or "")
    if lease is None or task is None:
        return None
    return next((run for run in reversed(task.runs) if lease.seq < run.first.seq < event.seq), None)
