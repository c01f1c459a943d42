"""The raw lock, dual-mode.

Condition, Event, Semaphore, Barrier, Queue and Future of the standard library run above it as they are.
"""

from __future__ import annotations

from typing import Any

from harness.engine.real import allocate_lock, get_ident
from harness.engine.threads import CONTROLLED, Controlled

__all__ = ["Lock", "WaiterLock"]


class Lock:
    """`threading.Lock`, whose real lock stays the single truth: held here means held there, in both modes."""

    __slots__ = ("__weakref__", "_real", "_waiters", "owner")

    def __init__(self, real: Any = None) -> None:
        self._real = allocate_lock() if real is None else real
        self._waiters: list[Controlled] = []
        self.owner: Controlled | None = None

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:  # noqa: FBT001, FBT002 - the standard signature
        """Acquire, with a decision point before."""
        me = CONTROLLED.get(get_ident())
        if me is None:
            return self._real.acquire(blocking, timeout)
        me.kernel.point(me)
        return self._take(me, blocking, timeout)

    def _take(self, me: Controlled, blocking: bool, timeout: float) -> bool:  # noqa: FBT001 - as acquire
        if not blocking and timeout != -1:
            message = "can't specify a timeout for a non-blocking call"
            raise ValueError(message)
        kernel = me.kernel
        kernel.touch(me, self)
        while not self._real.acquire(False):  # noqa: FBT003 - the standard signature
            if not blocking:
                return False
            self._waiters.append(me)
            woken = kernel.block(me, self, None if timeout == -1 else timeout)
            if me in self._waiters:
                self._waiters.remove(me)
            if not woken:
                return False
            kernel.touch(me, self)
        self.owner = me
        kernel.sync.acquire(me, self)
        return True

    def release(self) -> None:
        """Release, with a decision point after: whoever waited may go at once."""
        me = CONTROLLED.get(get_ident())
        if me is None:
            self.owner = None
            self._real.release()
            return
        self._give(me)
        if not me.aborted:
            me.kernel.point(me)

    def _give(self, me: Controlled) -> None:
        self._real.release()
        self.owner = None
        kernel = me.kernel
        kernel.sync.release(me, self)
        kernel.touch(me, self)
        if self._waiters:
            for waiter in self._waiters:
                kernel.wake(waiter)
            self._waiters.clear()

    def locked(self) -> bool:
        """Say whether somebody holds it."""
        me = CONTROLLED.get(get_ident())
        if me is not None:
            me.kernel.touch(me, self, write=False)
        return self._real.locked()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def _at_fork_reinit(self) -> None:
        self._real = allocate_lock()
        self.owner = None


class WaiterLock(Lock):
    """The lock on which a Condition parks one waiter: its first acquire, known to nobody else, is no decision."""

    __slots__ = ("_fresh",)

    def __init__(self, real: Any = None) -> None:
        super().__init__(real)
        self._fresh = True

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:  # noqa: FBT001, FBT002 - the standard signature
        """Acquire; the first time at once."""
        if self._fresh:
            self._fresh = False
            return self._real.acquire(blocking, timeout)
        return super().acquire(blocking, timeout)
