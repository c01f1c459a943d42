"""Services that were left open are aborted when the interpreter exits, before their daemon workers would be cut off.

A thread that is cut off inside native code can abort the process (ONNX Runtime: SIGABRT): a call in flight is awaited,
for `EXIT_SECONDS`. One that has not returned by then is left alone, and the process ends without running the
destructors of native libraries, which would find a thread of theirs still at work. The exit status is what it would be.
"""

from __future__ import annotations

import atexit
import ctypes
import logging
import os
import signal
import threading  # noqa: TID251 - a service that does not close must not keep the others, or the process
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol
from weakref import WeakSet

from harness.service.clock import monotonic

__all__ = ["EXIT_SECONDS", "abort_at_exit", "forget"]

EXIT_SECONDS = 5.0
"""How long the interpreter's exit waits for native calls in flight."""

_LOGGER = logging.getLogger(__name__)


class _Closable(Protocol):
    def close(self, *, drain: bool = True) -> None: ...

    def forked(self) -> None: ...


_open: WeakSet[_Closable] = WeakSet()


def abort_at_exit(service: _Closable) -> None:
    """Abort the service at interpreter exit, unless it is closed or collected before."""
    _open.add(service)


def forget(service: _Closable) -> None:
    """Drop a service that has been closed."""
    _open.discard(service)


def _abort_open_services() -> None:
    services = tuple(_open)
    threads = [threading.Thread(target=_abort, args=(service,), daemon=True) for service in services]
    try:
        for thread in threads:
            thread.start()
        until = monotonic() + EXIT_SECONDS
        for thread in threads:
            thread.join(max(0.0, until - monotonic()))
    except RuntimeError:  # CPython 3.12 starts no thread any more
        _abort_here(services)
    finally:  # whoever is impatient sends SIGINT
        _leave_behind(sum(thread.is_alive() for thread in threads))


def _abort_here(services: Sequence[_Closable]) -> None:
    """Abort one after the other, on the main thread, until a timer interrupts it."""
    done = 0
    with suppress(_LateError):
        signal.signal(signal.SIGALRM, _interrupt)
        signal.setitimer(signal.ITIMER_REAL, EXIT_SECONDS)
        for service in services:
            _abort(service)
            done += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
    _leave_behind(len(services) - done)


class _LateError(BaseException):
    """The time for an exit is over."""


def _interrupt(*_: object) -> None:
    raise _LateError


def _leave_behind(late: int) -> None:
    if late:
        _LOGGER.warning("%d service(s) left open do not close: a native call does not return", late)
        _leave_without_destructors()


def _abort(service: _Closable) -> None:
    try:
        service.close(drain=False)
    except Exception as error:  # noqa: BLE001 - the next service is closed all the same
        _LOGGER.warning("closing a service at exit failed with %s", type(error).__name__)


def _leave_without_destructors() -> None:
    """Have `exit` end the process at once with its status, before anything that was registered with it earlier."""
    libc = ctypes.CDLL(None) if os.name == "posix" else None
    on_exit = getattr(libc, "on_exit", None)  # the GNU C library's; its handlers are told the status
    if libc is not None and on_exit is not None:
        on_exit(libc._exit, None)  # noqa: SLF001 - the C function of that name


def _leave_to_parent() -> None:
    for service in tuple(_open):
        service.forked()
    _open.clear()


atexit.register(_abort_open_services)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)
