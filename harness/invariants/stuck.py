"""Why threads can never end: deadlock, abandoned lock, livelock, lost wakeup or leaked thread.

A thread waits for one thing, and at most one thread holds that. Followed from holder to holder, a wait ends in a
cycle, or at a root: a thread that waits for what nobody holds, or that goes on for ever, or whose holder has ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from harness.history import Event

__all__ = ["Cause", "causes"]

_SPINNING = "spinning"
_OUTCOME = "the outcome"
_UNIT = "a unit of semaphore"
_LOCK = "lock "
_MOST_NAMED = 2
_WRONG = frozenset({"deadlock", "abandoned lock", "livelock"})
"""What no idle thread is in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One cause in a sentence, with the threads that it is about (`roots`) and those that wait behind them."""

    kind: str
    says: str
    roots: tuple[Event, ...]
    behind: tuple[Event, ...] = ()

    @property
    def events(self) -> tuple[int, ...]:
        """The position of each `stuck` event that shows it."""
        return tuple(sorted(event.seq for event in (*self.roots, *self.behind)))

    @property
    def sentence(self) -> str:
        """The kind, what happened, and who waits because of it."""
        if len(self.behind) > _MOST_NAMED:
            return f"{self.kind}: {self.says}; {len(self.behind)} threads wait behind it"
        return "; ".join((f"{self.kind}: {self.says}", *map(_does, self.behind)))


def causes(stuck: Sequence[Event], counted: Sequence[Event], *, closed: bool) -> list[Cause]:
    """Find what holds up the `counted` threads, among all that are `stuck`; `closed` when every close() has returned.

    A client that waits for an outcome is held up by whatever else is wrong: by what its service's threads hang in, if
    they do, though they may be idle as far as anybody else is concerned.
    """
    ends = _by_end(stuck)
    matter = {event.thread for event in counted}
    found = [cause for cause in ends if cause.kind != "outcome" and _threads(cause) & matter]
    outcomes = [cause for cause in ends if cause.kind == "outcome" and _threads(cause) & matter]
    idle = [cause for cause in ends if not _threads(cause) & matter]
    told = _told(found, closed=closed and not outcomes)
    chief = [cause for cause in told if cause.kind in _WRONG] or told
    if not chief and outcomes:
        chief = [cause for cause in _told(idle, closed=False) if cause.kind in _WRONG]
    rest = [*(cause for cause in told if cause not in chief), *outcomes]
    if not rest:
        return chief
    waiting = _merged("lost wakeup", rest)
    if not chief:
        return _told([waiting], closed=False, idle=[event for cause in idle for event in cause.roots])
    return [replace(chief[0], behind=chief[0].behind + waiting.roots + waiting.behind), *chief[1:]]


def _threads(cause: Cause) -> set[str]:
    return {event.thread for event in (*cause.roots, *cause.behind)}


def _by_end(stuck: Sequence[Event]) -> list[Cause]:
    """One cause, not yet told, for each end that waits lead to."""
    threads = {event.thread: event for event in stuck}
    behind: dict[tuple[str, ...], list[Event]] = {}
    for event in stuck:
        end = _end(event, threads)
        waiting = behind.setdefault(end, [])
        if event.thread not in end:
            waiting.append(event)
    return [_cause(tuple(threads[name] for name in end), tuple(waiting)) for end, waiting in behind.items()]


def _end(event: Event, threads: dict[str, Event]) -> tuple[str, ...]:
    """The cycle that a wait leads into, from the least name on, or the one thread that it ends at."""
    path = [event.thread]
    while (holder := _holder(threads[path[-1]])) in threads:
        if holder in path:
            cycle = path[path.index(holder) :]
            first = cycle.index(min(cycle))
            return (*cycle[first:], *cycle[:first])
        path.append(holder)
    return (path[-1],)


def _cause(roots: tuple[Event, ...], behind: tuple[Event, ...]) -> Cause:
    root = roots[0]
    if len(roots) > 1 or _holder(root) == root.thread:
        return Cause(kind="deadlock", says=_cycle(roots), roots=roots, behind=behind)
    if root.attrs["waits_for"] == _SPINNING:
        return Cause(kind="livelock", says="", roots=roots, behind=behind)
    if _holder(root):
        says = f"{_does(root)}, which {_holder(root)} held when it ended"
        return Cause(kind="abandoned lock", says=says, roots=roots, behind=behind)
    shut_out = tuple(event for event in behind if _holder(event) == root.thread and _is_lock(event))
    if shut_out:
        locks = " and ".join(dict.fromkeys(_what(event) for event in shut_out))
        says = f"{root.thread} holds {locks} and waits for {_what(root)}, while {_all(shut_out)}"
        rest = tuple(event for event in behind if event not in shut_out)
        return Cause(kind="deadlock", says=says, roots=(root, *shut_out), behind=rest)
    is_client = root.attrs["role"] in {"actor", "client"}
    kind = "outcome" if is_client and _what(root).startswith(_OUTCOME) else "lost wakeup"
    return Cause(kind=kind, says="", roots=roots, behind=behind)


def _cycle(roots: tuple[Event, ...]) -> str:
    """`a holds lock A and waits for lock B, held by b, which waits for lock A, held by a`."""
    if len(roots) == 1:
        return f"{_does(roots[0])}, which it holds itself"
    # Told from a thread on that holds a lock, since the end of a thread is held by nobody.
    first = next((place for place in range(len(roots)) if _is_lock(roots[place - 1])), 0)
    told = (*roots[first:], *roots[:first])
    held = told[-1].attrs["waits_for"]
    waits = [f"waits for {event.attrs['waits_for']}{_held(event)}" for event in told]
    holds = f"holds {held} and " if _is_lock(told[-1]) else ""
    return f"{told[0].thread} {holds}" + ", which ".join(waits)


def _held(event: Event) -> str:
    return f", held by {_holder(event)}" if _is_lock(event) else ""


def _told(found: Sequence[Cause], *, closed: bool, idle: Sequence[Event] = ()) -> list[Cause]:
    """Those that stand for themselves, then all that go on for ever as one, then all that nobody wakes as one."""
    told = [cause for cause in found if cause.says]
    spinning = [cause for cause in found if cause.kind == "livelock"]
    unheld = [cause for cause in found if cause.kind == "lost wakeup"]
    if spinning:
        told.append(_livelock(_merged("livelock", spinning), closed=closed))
    if unheld:
        told.append(_lost_wakeup(_merged("lost wakeup", unheld), idle, closed=closed))
    return told


def _livelock(cause: Cause, *, closed: bool) -> Cause:
    who = " and ".join(event.thread for event in cause.roots)
    goes = "goes" if len(cause.roots) == 1 else "go"
    if closed and _is_left(cause):
        says = f"{who} still {goes} on after close() returned, and nothing comes of it"
        return replace(cause, kind="leaked thread", says=says)
    return replace(cause, says=f"{who} {goes} on for ever, and nothing comes of it")


def _lost_wakeup(cause: Cause, idle: Sequence[Event], *, closed: bool) -> Cause:
    if closed and _is_left(cause):
        return replace(cause, kind="leaked thread", says=f"after close() returned, {_all(cause.roots)}")
    units = {_what(event) for event in cause.roots}
    # Nobody holds a semaphore. Two threads that each want a unit of another one have most likely taken them crosswise.
    crossed = len(units) > 1 and all(unit.startswith(_UNIT) for unit in units)
    them = "it" if len(cause.roots) == 1 else "them"
    says = f"{_all(cause.roots)}, and no thread is left that could give {them}"
    if idle:
        says += f", while {_all(idle)}"
    return replace(cause, kind="deadlock" if crossed else "lost wakeup", says=says)


def _merged(kind: str, parts: Sequence[Cause]) -> Cause:
    roots = tuple(event for part in parts for event in part.roots)
    return Cause(kind=kind, says="", roots=roots, behind=tuple(event for part in parts for event in part.behind))


def _is_left(cause: Cause) -> bool:
    return not cause.behind and all(event.attrs["role"] == "service" for event in cause.roots)


def _holder(event: Event) -> str:
    return str(event.attrs.get("holder") or "")


def _is_lock(event: Event) -> bool:
    return str(event.attrs["waits_for"]).startswith(_LOCK)


def _what(event: Event) -> str:
    return str(event.attrs["waits_for"])


def _does(event: Event) -> str:
    return (
        f"{event.thread} goes on for ever" if _what(event) == _SPINNING else f"{event.thread} waits for {_what(event)}"
    )


def _all(events: Iterable[Event]) -> str:
    """`a waits for x`, `a waits for x and b waits for y`, and so on."""
    *most, last = map(_does, events)
    return f"{', '.join(most)} and {last}" if most else last
