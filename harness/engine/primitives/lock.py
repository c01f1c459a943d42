"""The raw lock, dual-mode, for `given.py` to give out.

Condition, Event, Semaphore, Barrier, Queue and Future of the standard library run above it as they are.
"""

from __future__ import annotations

from typing import Any

from harness.engine.compiling import mypyc_attr
from harness.engine.real import allocate_lock, get_ident
from harness.engine.threads import CONTROLLED, Controlled, ExecutionAbortedError

__all__ = ["Lock", "WaiterLock"]


@mypyc_attr(allow_interpreted_subclasses=True)
class Lock:
    """`threading.Lock`, whose real lock stays the single truth: held here means held there, in both modes."""

    __slots__ = ("owner", "raw", "waiters")

    def __init__(self, raw: Any = None) -> None:
        self.raw: Any = allocate_lock() if raw is None else raw
        self.waiters: list[Controlled] = []
        self.owner: Controlled | None = None

    def acquire(self, blocking: Any = True, timeout: Any = -1) -> bool:  # noqa: FBT002 - the standard signature
        """Acquire, with a decision point before, unless it has to wait in any case."""
        me = CONTROLLED.get(get_ident())
        if me is None:
            return self.raw.acquire(blocking, timeout)
        kernel = me.kernel
        if not blocking or timeout != -1:
            kernel.holding_shows = True
            kernel.point(me)
        elif self.raw.locked():
            me.steps += 1  # it waits, and that is a decision
        else:
            kernel.point(me)
            if kernel.causality is None and self.raw.acquire(False):  # noqa: FBT003 - the standard signature
                self.owner = me
                kernel.sync.note((me, self, False))
                return True
        return _take(self, me, blocking, timeout)

    def release(self) -> None:
        """Release, with a decision point after: whoever waited may go at once.

        And one before, where somebody could find the lock held still without waiting for it.
        """
        me = CONTROLLED.get(get_ident())
        if me is None:
            self.owner = None
            self.raw.release()
            return
        kernel = me.kernel
        if not kernel.releases_decide or me.aborted:
            me.steps += 1  # a step, whether it decides or not, so that schedules keep their meaning
        else:
            try:
                kernel.point(me)
            except ExecutionAbortedError:
                _give(self, me)
                raise
        _give(self, me)
        if not me.aborted:
            kernel.point(me)

    def locked(self) -> bool:
        """Say whether somebody holds it."""
        me = CONTROLLED.get(get_ident())
        if me is not None:
            me.kernel.holding_shows = True  # to whoever asks
            me.kernel.look(me, self)
        return self.raw.locked()

    def __exit__(self, *_: object) -> None:
        Lock.release(self)

    def _is_owned(self) -> bool:
        """Whether somebody holds it, as a Condition asks before it waits or notifies."""
        me = CONTROLLED.get(get_ident())
        if me is not None and me is not self.owner:
            me.kernel.touch(me, self, write=False)
        return self.raw.locked()

    def give(self) -> None:
        """Release, before a Condition waits: it waits at once, and that is a decision."""
        me = CONTROLLED.get(get_ident())
        if me is None:
            self.release()
        else:
            _give(self, me)

    def take(self, state: object = None) -> None:
        """Acquire, after a Condition has waited: whoever is woken was chosen just now."""
        del state
        me = CONTROLLED.get(get_ident())
        if me is None:
            self.raw.acquire()
        elif not me.aborted:
            _take(self, me, blocking=True, timeout=-1)

    def _at_fork_reinit(self) -> None:
        self.raw = allocate_lock()
        self.owner = None


@mypyc_attr(allow_interpreted_subclasses=True)
class WaiterLock(Lock):
    """The lock on which a Condition parks one waiter.

    Its first acquire, known to nobody else, is no decision. Nor is the one that waits, just after the condition's own
    lock was released; and it is released while that one is held.
    """

    __slots__ = ("_fresh",)

    def __init__(self, raw: Any = None) -> None:
        super().__init__(raw)
        self._fresh = True

    def acquire(self, blocking: Any = True, timeout: Any = -1) -> bool:  # noqa: FBT002 - the standard signature
        """Acquire; the first time at once."""
        me = CONTROLLED.get(get_ident())
        if me is None or self._fresh:
            self._fresh = False
            return self.raw.acquire(blocking, timeout)
        if not blocking:
            me.kernel.point(me)  # a wait of no time: somebody may come in all the same
        return _take(self, me, blocking, timeout)

    def release(self) -> None:
        """Release: whoever is parked here can go on."""
        me = CONTROLLED.get(get_ident())
        if me is None:
            self.raw.release()
            return
        _give(self, me)

    def __exit__(self, *_: object) -> None:
        WaiterLock.release(self)


def _take(lock: Lock, me: Controlled, blocking: Any, timeout: Any) -> bool:
    if not blocking and timeout != -1:
        message = "can't specify a timeout for a non-blocking call"
        raise ValueError(message)
    kernel = me.kernel
    patient = blocking and timeout == -1
    if not patient:
        kernel.touch(me, lock)  # whether it is held decides; to who waits as long as it takes only that it was not
    while not lock.raw.acquire(False):  # noqa: FBT003 - the standard signature
        if not blocking:
            return False
        lock.waiters.append(me)
        woken = kernel.block(me, lock, None if patient else timeout)
        if me in lock.waiters:
            lock.waiters.remove(me)
        if not woken:
            return False
    kernel.touch(me, lock)
    lock.owner = me
    kernel.sync.note((me, lock, False))
    return True


def _give(lock: Lock, me: Controlled) -> None:
    kernel = me.kernel
    if kernel.causality is not None:
        kernel.touch(me, lock)  # a release that is refused has looked, too
    lock.raw.release()
    lock.owner = None
    kernel.sync.note((me, lock, True))
    if lock.waiters:
        for waiter in lock.waiters:
            kernel.wake(waiter)
        lock.waiters.clear()
