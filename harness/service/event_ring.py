"""The last events of a service, and what was kept of them around errors."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, TypeGuard, cast

__all__ = ["Event", "EventRing", "Evidence", "Incident", "Raw", "SlotUse", "Stages"]

Raw: TypeAlias = tuple[float, str, int | None, int | None, str | None]
"""An event as it is written: the fields of `Event`, the task by its number."""
Stages: TypeAlias = tuple[int, int | None, float | None, float | None, float | None]
"""A task's number, its slot, and when it was accepted, when it started and when its call returned."""

_CLASSES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened, at a time of `time.monotonic`, in seconds.

    Of a task: `accepted`, `started`, `returned` (the session's call; it succeeded unless `failed` follows), `failed`,
    `cancelled`, `expired`, `replaced`, `ended` (from outside with another error), `wait-ended`, `late` or `dropped`
    (nobody waited for the outputs or the error). Of a slot, the health, the state or the closing: what it is now in
    `detail`. Otherwise `detail` is an error's class or where the task was, never its text.
    """

    at: float
    kind: str
    task_id: str | None = None
    slot: int | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotUse:
    """The task that a slot is busy with, and since when; of tasks that share a run, the first."""

    slot: int
    task_id: str
    since: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was so of one task at a moment: why it is not done yet.

    Times are of `time.monotonic`, None for what has not happened. `waits_for` is `a slot`, the call on `slot 0`, the
    `delivery` of what it returned, or None for a task that has ended; `buffers_held_by` is the `queue`, `slot 0`, or
    `nobody` in the service. `queue_depth` counts the runs in the line, this one included; `busy` are the slots in use.
    """

    task_id: str
    request_class: str
    at: float
    accepted_at: float | None
    started_at: float | None
    due: float | None
    waits_for: str | None
    buffers_held_by: str
    queue_depth: int
    busy: tuple[SlotUse, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """An error, by its class, and the events around it, oldest first; the error's own is `events[own]`.

    It is `complete` when as many events as are kept have come after it.
    """

    error: str
    evidence: Evidence
    events: tuple[Event, ...]
    own: int
    complete: bool


class _Window:
    def __init__(self, own: Raw, error: str, evidence: Evidence, live: Sequence[Stages]) -> None:
        self.own, self.error, self.evidence, self.live = own, error, evidence, live
        self.before: deque[Raw | Stages] = deque()
        self.after: list[Raw | Stages] = []
        self.beside: deque[Raw | Stages] | None = None

    def incident(self, most: int, ring: deque[Raw | Stages]) -> Incident:
        written = [*self.live, *self.before, self.own, *self.after[:most]]
        last = _events(written)[-1].at
        # Who had looked up where to write just before the error wrote to the ring alone, just after it.
        beside = ring if self.beside is None else self.beside
        events = tuple(event for event in _events([*written, *beside]) if event.at <= last)
        own = next(_expanded(self.own))
        complete = len(self.after) >= most
        return Incident(
            error=self.error, evidence=self.evidence, events=events, own=events.index(own), complete=complete
        )


class EventRing:
    """Keeps the last `size` entries, and around an error the ring as it was then with the next quarter of `size`.

    An entry is an event, or all stages of a task that has returned or ended: written once, where a task's last stage is
    noted, since what is called in between two runs of a model finds nothing of its own in the processor's caches.

    The latest incident of an error class is kept, for the last 8 classes. While one is being written another of its
    class is no incident of its own, and one of another class ends it.

    `put` writes an entry, from any thread, with no lock; `put_locked` is for callers that hold the service's lock,
    which everything else here needs, too. They are `append` of a deque while nothing goes wrong: a switch that each
    writer had to look at would cost every task.
    """

    put: Callable[[Raw | Stages], None]
    put_locked: Callable[[Raw | Stages], None]

    def __init__(self, size: int) -> None:
        self._ring: deque[Raw | Stages] = deque(maxlen=size)
        self._most = max(1, size // 4)
        self._windows: dict[str, _Window] = {}
        self._open: _Window | None = None
        self.put = self.put_locked = self._ring.append

    def freeze(self, raw: Raw, error: str, evidence: Evidence, live: Sequence[Stages]) -> None:
        """Write an error's event, and keep what happens around it; `live` are the tasks that have not ended."""
        self.put_locked(raw)
        if self._open is not None and self._open.error == error:
            return
        self._close()
        self._windows.pop(error, None)
        self._windows[error] = self._open = window = _Window(raw, error, evidence, live)
        if len(self._windows) > _CLASSES:
            del self._windows[next(iter(self._windows))]
        # Only holders of the lock put things back: an unlocked writer could switch a newer window off.
        self.put, self.put_locked = partial(self._put, window), partial(self._put_last, window)
        window.before = self._ring.copy()  # what is written just now is in both, and counts once

    def recent(self, live: Sequence[Stages]) -> tuple[Event, ...]:
        """The last events, in order of time; `live` are the tasks that have not ended."""
        return _events([*live, *self._ring.copy()])

    def frozen(self) -> tuple[Incident, ...]:
        """The incidents that are kept, oldest first."""
        return tuple(window.incident(self._most, self._ring.copy()) for window in self._windows.values())

    def _put(self, window: _Window, entry: Raw | Stages) -> None:
        self._ring.append(entry)
        window.after.append(entry)

    def _put_last(self, window: _Window, entry: Raw | Stages) -> None:
        self._put(window, entry)
        if len(window.after) >= self._most:
            self._close()
            self.put = self.put_locked = self._ring.append

    def _close(self) -> None:
        if self._open is not None:
            self._open.beside = self._ring.copy()
            self._open = None


def _events(entries: Iterable[Raw | Stages]) -> tuple[Event, ...]:
    """Each event once, although a task's stages may have been written when it ended and when its call returned."""
    found: dict[tuple[float, str, str | None, str | None], Event] = {}
    for entry in entries:
        for event in _expanded(entry):
            key = (event.at, event.kind, event.task_id, event.detail)
            if key not in found or found[key].slot is None:
                found[key] = event
    return tuple(sorted(found.values(), key=lambda event: event.at))


def _is_event(entry: Raw | Stages) -> TypeGuard[Raw]:
    return isinstance(entry[1], str)


def _expanded(entry: Raw | Stages) -> Iterator[Event]:
    if _is_event(entry):
        at, kind, number, slot, detail = entry
        yield Event(at=at, kind=kind, task_id=_task(number), slot=slot, detail=detail)
        return
    number, slot, *times = cast("Stages", entry)
    for kind, at, where in zip(("accepted", "started", "returned"), times, (None, slot, slot), strict=True):
        if at is not None:
            yield Event(at=at, kind=kind, task_id=_task(number), slot=where)


def _task(number: int | None) -> str | None:
    return None if number is None else f"n{number}"
