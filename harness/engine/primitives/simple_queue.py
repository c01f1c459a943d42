"""The C queue below ThreadPoolExecutor, dual-mode."""

from __future__ import annotations

from _queue import Empty
from _queue import SimpleQueue as RealSimpleQueue
from types import GenericAlias
from typing import Any

from harness.engine.threads import Controlled, current

__all__ = ["SimpleQueue"]


class SimpleQueue:
    """`queue.SimpleQueue`: the items stay in the real one, in both modes."""

    __slots__ = ("__weakref__", "_real", "_waiters")
    __class_getitem__: Any = classmethod(GenericAlias)  # pyright: ignore[reportUnknownVariableType]

    def __init__(self) -> None:
        self._real: RealSimpleQueue[Any] = RealSimpleQueue()
        self._waiters: list[Controlled] = []

    def put(self, item: object, block: bool = True, timeout: float | None = None) -> None:  # noqa: FBT001, FBT002, ARG002 - the standard signature
        """Put an item; never blocks."""
        me = current()
        if me is not None:
            me.kernel.point(me)
            me.kernel.sync.note((me, self, True))
            me.kernel.touch(me, self)
        self._real.put(item)
        if me is not None and self._waiters:
            for waiter in self._waiters:  # nobody says which of them gets it
                me.kernel.wake(waiter)
            self._waiters.clear()

    def put_nowait(self, item: object) -> None:
        """Put an item."""
        self.put(item)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:  # noqa: FBT001, FBT002 - the standard signature
        """Get an item. Raises Empty when there is none in time."""
        me = current()
        if me is None:
            return self._real.get(block, timeout)
        if timeout is not None and timeout < 0:
            message = "'timeout' must be a non-negative number"
            raise ValueError(message)
        kernel = me.kernel
        kernel.point(me)
        if not block or timeout is not None:
            kernel.touch(me, self)  # whether it is empty decides; to who waits for an item it does not
        while self._real.empty():
            if not block:
                raise Empty
            self._waiters.append(me)
            woken = kernel.block(me, self, timeout)
            if me in self._waiters:
                self._waiters.remove(me)
            if not woken and self._real.empty():
                raise Empty
        kernel.sync.note((me, self, False))
        kernel.touch(me, self)
        return self._real.get(False)

    def get_nowait(self) -> Any:
        """Get an item or raise Empty."""
        return self.get(block=False)

    def empty(self) -> bool:
        """Say whether it is empty now."""
        self._read()
        return self._real.empty()

    def qsize(self) -> int:
        """How many items it holds now."""
        self._read()
        return self._real.qsize()

    def _read(self) -> None:
        me = current()
        if me is not None:
            me.kernel.look(me, self)
