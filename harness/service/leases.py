"""Zero copy by lease: the producer hands a buffer over and may not write to it until the lease ends.

    pool = BufferPool([{"image": np.empty((480, 640, 3), np.uint8)} for _ in range(3)])
    buffer = pool.take()
    fill(buffer.arrays["image"])
    lease = buffer.lend()          # from here on the producer's arrays are read-only
    future = submit_leased(service, lease)

Hand-over and return pass a lock, which is the release fence of the one side and the acquire fence of the other: what
was written before is seen after. When a lease ends is never learned from a reference count: dropping the last reference
to an array says nothing about native code that still reads from its address.
"""

from __future__ import annotations

import hashlib
import threading  # noqa: TID251 - a lease passes between threads
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from enum import StrEnum
from typing import Any, Protocol, cast

import numpy as np

from adapters.base import Array, Arrays
from harness.service.errors import ServiceError

__all__ = ["Check", "Lease", "LeaseViolationError", "digest_of", "submit_leased"]

_PIECE = 64
_PIECES = 256
_WHOLE = _PIECE * _PIECES


class LeaseViolationError(ServiceError):
    """Somebody wrote to a leased buffer, or made it writable again: the task's result is in doubt and not delivered."""


class Check(StrEnum):
    """How a lease's end looks for writers that read-only arrays could not stop.

    `full` reads every byte, at the lease's begin and end. `sampled` reads 256 pieces of 64 bytes, evenly spread, of
    each array larger than 16 KiB: it finds whatever overwrites a whole buffer, and misses a write that falls between
    pieces. `flags` looks only whether the arrays are still read-only.
    """

    FULL = "full"
    SAMPLED = "sampled"
    FLAGS = "flags"


class _Submits(Protocol):
    def submit(self, inputs: Any, **options: Any) -> Any: ...


class Lease(Mapping[str, Array]):
    """One hand-over of a buffer to one task, as the mapping of read-only arrays that is submitted.

    The lease ends when the task's native call has returned (`finish`), or when the task got its outcome without ever
    starting (`drop`). Then its arrays get back the flags that they had and `ended` is called, once, with whether the
    buffer was violated; under no lock, on the thread that ended the lease.

    What is detected: a write through the producer's own arrays raises in the producer, since numpy refuses it. A write
    past them, through another view or a pointer, is found at the end by digest as far as `check` goes; while it was
    there, the runtime may have read either value. Arrays must be contiguous: a runtime copies any other. ValueError.
    """

    def __init__(
        self, arrays: Arrays, *, check: Check = Check.SAMPLED, ended: Callable[[bool], None] | None = None
    ) -> None:
        for name, array in arrays.items():
            if not array.flags.c_contiguous or array.dtype.hasobject:
                message = f"{name!r} cannot be leased: it must be contiguous and hold plain values"
                raise ValueError(message)
        self.check = Check(check)
        self._lent = dict(arrays)
        self._ended = ended
        self._lock = threading.Lock()
        # lent -> running -> over, or lent -> over. Only the task that made it running may end a running lease.
        self._running = self._over = False
        self._flags = {name: array.flags.writeable for name, array in self._lent.items()}
        for array in self._lent.values():
            array.flags.writeable = False
        self._views = {name: array.view() for name, array in self._lent.items()}
        self._digests = {name: digest_of(array, self.check) for name, array in self._lent.items()}

    def __getitem__(self, name: str) -> Array:
        return self._views[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._views)

    def __len__(self) -> int:
        return len(self._views)

    @property
    def over(self) -> bool:
        """Whether the lease has ended: the buffer is the producer's again."""
        with self._lock:
            return self._over

    def start(self) -> bool:
        """The task's native call is about to begin. False: the lease is over, and the call must not be made."""
        with self._lock:
            if not self._over:
                self._running = True
            return self._running

    def finish(self) -> LeaseViolationError | None:
        """The task's last native call has returned: end the lease, and say what is wrong with the result, if it is."""
        with self._lock:
            assert self._running, "a lease finishes once, after it has started"
            self._running = False
            self._over = True
        return self._end()

    def drop(self) -> bool:
        """The task has its outcome: end the lease unless a native call may be in flight; that one's return then does.

        From any thread. Returns whether the lease is over.
        """
        with self._lock:
            if self._running or self._over:
                return self._over
            self._over = True
        self._end()
        return True

    def _end(self) -> LeaseViolationError | None:
        violated = [name for name, array in self._lent.items() if self._violated(name, array)]
        for name, array in self._lent.items():
            if self._flags[name]:
                array.flags.writeable = True
        if self._ended is not None:
            self._ended(bool(violated))
        if not violated:
            return None
        return LeaseViolationError(f"written to during the lease: {', '.join(map(repr, violated))}")

    def _violated(self, name: str, array: Array) -> bool:
        return array.flags.writeable or digest_of(array, self.check) != self._digests[name]


def submit_leased(service: _Submits, lease: Lease, **options: Any) -> Future[Any]:
    """Submit a lease instead of arrays. A refusal ends the lease and is raised.

    The service must know leases (ours does) or copy what it is given; the latter's copy is then what it runs.
    """
    try:
        future: Future[Any] = service.submit(lease, **options)
    except BaseException:
        lease.drop()
        raise
    future.add_done_callback(lambda _: lease.drop())
    return future


def digest_of(array: Array, check: Check) -> bytes:
    """A digest over all bytes or over evenly spread pieces; empty for `flags`."""
    if check is Check.FLAGS:
        return b""
    octets: Array = array.reshape(-1).view(np.uint8)
    if check is Check.SAMPLED and octets.size > _WHOLE:
        starts = np.linspace(0, octets.size - _PIECE, _PIECES).astype(np.int64)
        octets = octets[starts[:, None] + np.arange(_PIECE)]
    return hashlib.blake2b(cast("Any", octets), digest_size=16).digest()
