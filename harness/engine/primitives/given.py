"""The locks that `threading` gives out: those of the core, with what a compiled class cannot have."""

from __future__ import annotations

import _thread
from typing import Any

from harness.engine.primitives import lock, rlock

__all__ = ["Lock", "RLock", "WaiterLock"]


class Lock(lock.Lock):
    """`threading.Lock`."""

    __slots__ = ("__weakref__",)
    __enter__ = lock.Lock.acquire
    _release_save, _acquire_restore = lock.Lock.give, lock.Lock.take


class WaiterLock(lock.WaiterLock):
    """The lock on which a Condition parks one waiter."""

    __slots__ = ("__weakref__",)
    __enter__ = lock.WaiterLock.acquire
    _release_save, _acquire_restore = lock.WaiterLock.give, lock.WaiterLock.take


class RLock(rlock.RLock):
    """`threading.RLock`."""

    __slots__ = ("__weakref__",)
    __enter__ = rlock.RLock.acquire


_given: Any = RLock
if hasattr(_thread.RLock, "locked"):
    _given.locked = rlock.RLock.held
