"""Services that were left open are aborted when the interpreter exits, before their daemon workers would be cut off.

A thread that is cut off inside native code can abort the process (ONNX Runtime: SIGABRT): a call in flight is awaited.
"""

from __future__ import annotations

import atexit
import logging
import os
from typing import Protocol
from weakref import WeakSet

__all__ = ["abort_at_exit", "forget"]

_LOGGER = logging.getLogger(__name__)


class _Closable(Protocol):
    def close(self, *, drain: bool = True) -> None: ...


_open: WeakSet[_Closable] = WeakSet()


def abort_at_exit(service: _Closable) -> None:
    """Abort the service at interpreter exit, unless it is closed or collected before."""
    _open.add(service)


def forget(service: _Closable) -> None:
    """Drop a service that has been closed."""
    _open.discard(service)


def _abort_open_services() -> None:
    for service in tuple(_open):
        try:
            service.close(drain=False)
        except Exception as error:  # noqa: BLE001 - the next service is closed all the same
            _LOGGER.warning("closing a service at exit failed with %s", type(error).__name__)


atexit.register(_abort_open_services)
if hasattr(os, "register_at_fork"):
    # A forked child has the object but not its workers, and perhaps a lock that nobody will ever release.
    os.register_at_fork(after_in_child=_open.clear)
