"""Collects the facts of one execution and makes its history."""

from __future__ import annotations

from typing import Any

from harness.history import Attr, Event, History, Mode
from harness.observe.world import World

__all__ = ["Recorder"]

_EMPTY: dict[str, Attr] = {}


class Recorder:
    """Appends events in the order in which they are reported.

    A task can be given as a future whose TaskId is not known yet (the service tells of it before `submit` has
    returned): it is looked up when the history is made.
    """

    def __init__(self, world: World) -> None:
        self._thread = world.thread
        self._now_ns = world.now_ns
        self._order = world.order
        self._events: list[tuple[Any, ...]] = []
        self._calls = 0
        self.task_of_future: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._events)

    def next_call(self) -> int:
        """A number for one call, the same in its begin and its end."""
        self._calls += 1
        return self._calls

    def record(
        self,
        kind: str,
        task: str | None = None,
        session: str | None = None,
        slot: str | None = None,
        attrs: dict[str, Attr] = _EMPTY,
    ) -> None:
        """Append one event."""
        if self._order is not None:
            self._order(kind, task, session, slot, attrs)
        self._events.append((self._now_ns(), self._thread(), kind, task, session, slot, attrs))

    def record_of(self, thread: str, kind: str, attrs: dict[str, Attr]) -> None:
        """Append one event about a thread that can no longer tell itself."""
        self._events.append((self._now_ns(), thread, kind, None, None, None, attrs))

    def record_future(
        self, kind: str, future: object, slot: str | None = None, attrs: dict[str, Attr] = _EMPTY
    ) -> None:
        """Append one event about the task behind a future."""
        if self._order is not None:
            self._order(kind, future, None, slot, attrs)
        self._events.append((self._now_ns(), self._thread(), kind, future, None, slot, attrs))

    def history(self, mode: Mode) -> History:
        """Make the history of what was recorded so far."""
        known = self.task_of_future
        return History(
            mode,
            tuple(
                Event(
                    seq,
                    at,
                    thread,
                    kind,
                    task if task is None or type(task) is str else known.get(id(task)),
                    session,
                    slot,
                    attrs,
                )
                for seq, (at, thread, kind, task, session, slot, attrs) in enumerate(self._events)
            ),
        )
