"""A service belongs to the process that opened it: in a forked child it refuses.

The child has the object, but neither the workers nor what a runtime keeps beside it (threads, devices), and perhaps a
lock that a thread of the parent held and that nobody will ever release.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any, Never

from harness.service.errors import ServiceForkedError

__all__ = ["refuse_in_child"]

_PLAIN: type[Future[Any]] = Future
_MESSAGE = "this process was forked, and the service is its parent's: spawn processes, or open a service in each"


def refuse_in_child(service: object, pending: Iterable[Future[Any]]) -> None:
    """Have every public method raise ServiceForkedError, but `close`, which has nothing to do; takes no lock.

    Futures that are `pending` end with that error: what they wait for happens in the parent. Called in the child before
    anything else runs there, so that a service costs nothing for it.
    """
    of = type(service)
    public = [name for name in dir(of) if not name.startswith("_") and callable(getattr(of, name))]
    refusing: Any = type(of.__name__, (of,), dict.fromkeys(public, _refuse) | {"close": _nothing_to_close})
    service.__class__ = refusing
    for future in pending:
        _PLAIN.__init__(future)  # another thread may have held its lock in the moment of the fork: it gets a new one
        _PLAIN.set_exception(future, ServiceForkedError(_MESSAGE))


def _refuse(*_args: object, **_options: object) -> Never:
    raise ServiceForkedError(_MESSAGE)


def _nothing_to_close(_service: object, **_options: object) -> None:
    """The sessions are the parent's."""
