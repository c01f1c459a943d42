"""Controlled threads on real threads of the operating system, reused between executions and pinned to one core.

A hand-over wakes exactly one thread by one raw lock: a condition's notify_all would wake every carrier to let one
go on. All carriers share a core, where a hand-over costs a few microseconds; across cores it is several times that
and uneven.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from harness.engine.carriers.carrier import Baton
from harness.engine.real import allocate_lock, get_ident, get_native_id, start_new_thread
from harness.engine.threads import Controlled

_FRAMES: Any = sys._current_frames  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - the documented way to other stacks

__all__ = ["OsThreadCarriers", "pin_this_thread"]


class _OsThread:
    """A reusable carrier and the baton of the thread that it carries."""

    __slots__ = ("_body", "_carried", "_idle", "_raw", "ident", "native_id", "pass_on", "take")

    def __init__(self, idle: list[_OsThread], core: int | None) -> None:
        self._raw = allocate_lock()
        self._raw.acquire()
        self.pass_on: Any = self._raw.release
        self.take: Any = self._raw.acquire
        self._body: Callable[[Controlled, Baton], None] | None = None
        self._carried: Controlled | None = None
        self._idle = idle
        self.ident = self.native_id = 0
        ready = allocate_lock()
        ready.acquire()
        start_new_thread(self._loop, (core, ready.release))
        ready.acquire()

    def hand_to(self, other: Baton) -> None:
        other.pass_on()
        self.take()

    def frame(self) -> FrameType | None:
        return _FRAMES().get(self.ident)

    def assign(self, thread: Controlled, body: Callable[[Controlled, Baton], None]) -> None:
        self._carried, self._body = thread, body

    def _loop(self, core: int | None, ready: Callable[[], None]) -> None:
        self.ident = get_ident()
        self.native_id = get_native_id()
        if core is not None:
            pin_this_thread(core)
        ready()
        while True:
            self._raw.acquire()
            thread, self._carried = self._carried, None
            body, self._body = self._body, None
            if body is None or thread is None:
                return
            body(thread, self)  # hands the token on before it returns; `retire` has put this carrier back by then
            del body, thread


class _Control:
    """The kernel's own thread waits on one more raw lock."""

    def __init__(self) -> None:
        raw = allocate_lock()
        raw.acquire()
        self.pass_on: Any = raw.release
        self._acquire = raw.acquire

    def take(self, timeout: float) -> bool:
        return self._acquire(True, timeout)  # noqa: FBT003 - the standard signature


class OsThreadCarriers:
    """A pool of reusable carriers; `core` pins each to one core, None leaves them alone."""

    def __init__(self, core: int | None = None) -> None:
        self._core = core
        self._idle: list[_OsThread] = []
        self.control = _Control()

    def start(self, thread: Controlled, body: Callable[[Controlled, Baton], None]) -> Baton:
        """Assign an idle carrier, or a new one."""
        carrier = self._idle.pop() if self._idle else _OsThread(self._idle, self._core)
        carrier.assign(thread, body)
        return carrier

    def retire(self, baton: Baton) -> None:
        """Take a carrier back. Called on the carrier itself as the last thing before it hands the token on."""
        assert isinstance(baton, _OsThread)
        self._idle.append(baton)

    def close(self) -> None:
        """End the idle carriers."""
        for carrier in self._idle:
            carrier.pass_on()
        self._idle.clear()

    def abandon(self, baton: Baton) -> None:
        """Leave a carrier to its endless body."""


def pin_this_thread(core: int) -> None:
    """Pin the calling thread alone: pinning the process would change the thread count that runtimes choose."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(get_native_id(), {core})
