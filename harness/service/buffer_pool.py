"""A fixed set of buffers, each with one owner at a time."""

from __future__ import annotations

import threading  # noqa: TID251 - the pool owns its lock
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.base import Arrays
from harness.service.errors import ServiceError
from harness.service.hold import check_apart
from harness.service.leases import Check, Lease

__all__ = ["BufferPool", "BufferPoolError", "NoBufferError", "PoolCounters", "PooledBuffer"]


class BufferPoolError(ServiceError):
    """A buffer was given back that is not out: twice, while it is lent, or to another pool."""


class NoBufferError(ServiceError):
    """No buffer came back in time, or none ever will: every one of them is retired."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolCounters:
    """A consistent snapshot; `retired` buffers were violated and never come back."""

    buffers: int
    free: int
    taken: int
    lent: int
    retired: int


class PooledBuffer:
    """One taking of a buffer, over with `give_back` or `lend`; the buffer's next taking is another object."""

    def __init__(self, pool: BufferPool, number: int, arrays: Arrays) -> None:
        self._pool = pool
        self.number = number
        self.arrays = arrays

    def give_back(self) -> None:
        """Return it unused, or after the last use by this thread's own code. A second time raises BufferPoolError."""
        self._pool.give_back(self)

    def lend(self, check: Check = Check.SAMPLED) -> Lease:
        """Hand it over to a task; it returns to the pool when the lease ends: nobody uses it then."""
        return self._pool.lend(self, check)


class BufferPool:
    """Buffers that return only when their use is known to be over: given back by their taker, or by a lease that ended.

    A buffer that somebody wrote to during its lease is retired: whoever has such a view still has it, and would spoil
    the next task, too. The pool is smaller then and says so. Any thread may call. Raises ValueError for no buffers or
    for buffers that share memory.
    """

    def __init__(self, buffers: Sequence[Arrays]) -> None:
        if not buffers:
            message = "a pool needs at least one buffer"
            raise ValueError(message)
        check_apart(buffers)
        self._arrays = tuple(buffers)
        self._returned = threading.Condition(threading.Lock())
        # Every buffer is in exactly one of these four.
        self._free = list(range(len(buffers)))
        self._taken: set[PooledBuffer] = set()
        self._lent: set[PooledBuffer] = set()
        self._retired: set[int] = set()

    def take(self, timeout: float | None = None) -> PooledBuffer:
        """Take a free buffer, waiting for one up to `timeout` seconds, None for as long as it takes. NoBufferError."""
        with self._returned:
            self._returned.wait_for(lambda: self._free or self._all_retired(), timeout)
            if not self._free:
                message = "every buffer is retired" if self._all_retired() else "no buffer came back in time"
                raise NoBufferError(message)
            number = self._free.pop()
            buffer = PooledBuffer(self, number, self._arrays[number])
            self._taken.add(buffer)
        return buffer

    def give_back(self, buffer: PooledBuffer) -> None:
        """See PooledBuffer.give_back."""
        with self._returned:
            self._check_taken(buffer)
            self._taken.remove(buffer)
            self._free.append(buffer.number)
            self._returned.notify()

    def lend(self, buffer: PooledBuffer, check: Check = Check.SAMPLED) -> Lease:
        """See PooledBuffer.lend."""
        with self._returned:
            self._check_taken(buffer)
            self._taken.remove(buffer)
            self._lent.add(buffer)
        try:
            return Lease(
                buffer.arrays, check=check, ended=lambda violated: self._lease_ended(buffer, violated=violated)
            )
        except ValueError:
            with self._returned:
                self._lent.remove(buffer)
                self._taken.add(buffer)
            raise

    def counters(self) -> PoolCounters:
        """Return a consistent snapshot."""
        with self._returned:
            return PoolCounters(
                buffers=len(self._arrays),
                free=len(self._free),
                taken=len(self._taken),
                lent=len(self._lent),
                retired=len(self._retired),
            )

    def _all_retired(self) -> bool:
        return len(self._retired) == len(self._arrays)

    def _check_taken(self, buffer: PooledBuffer) -> None:
        if buffer not in self._taken:
            where = "is lent" if buffer in self._lent else "is not out: it was given back, or belongs to another pool"
            message = f"buffer {buffer.number} {where}"
            raise BufferPoolError(message)

    def _lease_ended(self, buffer: PooledBuffer, *, violated: bool) -> None:
        with self._returned:
            self._lent.remove(buffer)
            if violated:
                self._retired.add(buffer.number)
                self._returned.notify_all()
            else:
                self._free.append(buffer.number)
                self._returned.notify()
