"""The raw lock, dual-mode.

Condition, Event, Semaphore, Barrier, Queue and Future of the standard library run above it as they are.
"""

from __future__ import annotations

from typing import Any

from harness.engine.real import allocate_lock, get_ident
from harness.engine.threads import CONTROLLED, Controlled, ExecutionAbortedError

__all__ = ["Lock", "WaiterLock"]


class Lock:
    """`threading.Lock`, whose real lock stays the single truth: held here means held there, in both modes."""

    __slots__ = ("__weakref__", "_real", "_waiters", "owner")

    def __init__(self, real: Any = None) -> None:
        self._real = allocate_lock() if real is None else real
        self._waiters: list[Controlled] = []
        self.owner: Controlled | None = None

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:  # noqa: FBT001, FBT002 - the standard signature
        """Acquire, with a decision point before, unless it has to wait in any case."""
        me = CONTROLLED.get(get_ident())
        if me is None:
            return self._real.acquire(blocking, timeout)
        kernel = me.kernel
        if not blocking or timeout != -1:
            kernel.holding_shows = True
            kernel.point(me)
        elif self._real.locked():
            me.steps += 1  # it waits, and that is a decision
        else:
            kernel.point(me)
            if kernel.causality is None and self._real.acquire(False):  # noqa: FBT003 - the standard signature
                self.owner = me
                kernel.sync.note((me, self, False))
                return True
        return self._take(me, blocking, timeout)

    __enter__ = acquire

    def _take(self, me: Controlled, blocking: bool, timeout: float) -> bool:  # noqa: FBT001 - as acquire
        if not blocking and timeout != -1:
            message = "can't specify a timeout for a non-blocking call"
            raise ValueError(message)
        kernel = me.kernel
        patient = blocking and timeout == -1
        if not patient:
            kernel.touch(me, self)  # whether it is held decides; to who waits as long as it takes only that it was not
        while not self._real.acquire(False):  # noqa: FBT003 - the standard signature
            if not blocking:
                return False
            self._waiters.append(me)
            woken = kernel.block(me, self, None if patient else timeout)
            if me in self._waiters:
                self._waiters.remove(me)
            if not woken:
                return False
        kernel.touch(me, self)
        self.owner = me
        kernel.sync.note((me, self, False))
        return True

    def release(self) -> None:
        """Release, with a decision point after: whoever waited may go at once.

        And one before, where somebody could find the lock held still without waiting for it.
        """
        me = CONTROLLED.get(get_ident())
        if me is None:
            self.owner = None
            self._real.release()
            return
        kernel = me.kernel
        if not kernel.releases_decide or me.aborted:
            me.steps += 1  # a step, whether it decides or not, so that schedules keep their meaning
        else:
            try:
                kernel.point(me)
            except ExecutionAbortedError:
                self._give(me)
                raise
        self._give(me)
        if not me.aborted:
            kernel.point(me)

    def _give(self, me: Controlled) -> None:
        kernel = me.kernel
        if kernel.causality is not None:
            kernel.touch(me, self)  # a release that is refused has looked, too
        self._real.release()
        self.owner = None
        kernel.sync.note((me, self, True))
        if self._waiters:
            for waiter in self._waiters:
                kernel.wake(waiter)
            self._waiters.clear()

    def locked(self) -> bool:
        """Say whether somebody holds it."""
        me = CONTROLLED.get(get_ident())
        if me is not None:
            me.kernel.holding_shows = True  # to whoever asks
            me.kernel.look(me, self)
        return self._real.locked()

    def __exit__(self, *_: object) -> None:
        self.release()

    def _is_owned(self) -> bool:
        """Whether somebody holds it, as a Condition asks before it waits or notifies."""
        me = CONTROLLED.get(get_ident())
        if me is not None and me is not self.owner:
            me.kernel.touch(me, self, write=False)
        return self._real.locked()

    def give(self) -> None:
        """Release, before a Condition waits: it waits at once, and that is a decision."""
        me = CONTROLLED.get(get_ident())
        if me is None:
            self.release()
        else:
            self._give(me)

    def take(self, state: object = None) -> None:
        """Acquire, after a Condition has waited: whoever is woken was chosen just now."""
        del state
        me = CONTROLLED.get(get_ident())
        if me is None:
            self._real.acquire()
        elif not me.aborted:
            self._take(me, blocking=True, timeout=-1)

    _release_save, _acquire_restore = give, take

    def _at_fork_reinit(self) -> None:
        self._real = allocate_lock()
        self.owner = None


class WaiterLock(Lock):
    """The lock on which a Condition parks one waiter.

    Its first acquire, known to nobody else, is no decision. Nor is the one that waits, just after the condition's own
    lock was released; and it is released while that one is held.
    """

    __slots__ = ("_fresh",)

    def __init__(self, real: Any = None) -> None:
        super().__init__(real)
        self._fresh = True

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:  # noqa: FBT001, FBT002 - the standard signature
        """Acquire; the first time at once."""
        me = CONTROLLED.get(get_ident())
        if me is None or self._fresh:
            self._fresh = False
            return self._real.acquire(blocking, timeout)
        if not blocking:
            me.kernel.point(me)  # a wait of no time: somebody may come in all the same
        return self._take(me, blocking, timeout)

    def release(self) -> None:
        """Release: whoever is parked here can go on."""
        me = CONTROLLED.get(get_ident())
        if me is None:
            self._real.release()
            return
        self._give(me)
