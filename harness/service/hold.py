"""A stage's right to a buffer: from taking it over until handing it on, on the stage's own thread."""

from __future__ import annotations

import threading  # noqa: TID251 - a hold belongs to one thread
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from adapters.base import Array, Arrays
from harness.service.errors import ServiceError

__all__ = ["BufferOwnershipError", "Hold", "check_apart", "shares_memory"]


class BufferOwnershipError(ServiceError):
    """A stage touched a buffer that it does not own, or let a result out that is still part of one."""


class Hold:
    """The arrays of one buffer, by name, for the stage that owns it now.

    The stage gets views of its own. When it hands the buffer on they become read-only and the hold refuses, so that
    code which kept either one raises instead of writing into another item's data. Any other thread is refused always.
    What this cannot see: a slice that the stage took of a view and kept, and a write through native code.
    """

    def __init__(self, arrays: Arrays, breached: Callable[[], None]) -> None:
        self._arrays = arrays
        self._breached = breached
        self._owner = threading.current_thread()
        self._views: dict[str, Array] = {}
        self._open = True

    def __getitem__(self, name: str) -> Array:
        if not self._open or threading.current_thread() is not self._owner:
            self._breached()
            message = "this stage does not own the buffer any more" if not self._open else "another thread's buffer"
            raise BufferOwnershipError(message)
        if name not in self._views:
            self._views[name] = self._arrays[name].view()
        return self._views[name]

    def names(self) -> tuple[str, ...]:
        """The names of the arrays."""
        return tuple(self._arrays)

    def end(self) -> None:
        """Hand the buffer on; for the pipeline, on the stage's thread."""
        self._open = False
        for view in self._views.values():
            view.flags.writeable = False


def check_apart(buffers: Sequence[Arrays]) -> None:
    """Raise ValueError for buffers that share memory."""
    for number, one in enumerate(buffers):
        if any(shares_memory(one, other) for other in buffers[:number]):
            message = f"buffer {number} shares memory with another one"
            raise ValueError(message)


def shares_memory(value: Any, arrays: Arrays) -> bool:
    """Whether a result (an array, or arrays in a mapping, list or tuple) is part of the buffer's own memory."""
    return any(np.shares_memory(one, other) for one in _arrays_in(value) for other in arrays.values())


def _arrays_in(value: Any) -> Iterator[Array]:
    parts: Iterable[Any] = ()
    if isinstance(value, np.ndarray):
        yield cast("Array", value)
    elif isinstance(value, Mapping):
        parts = cast("Mapping[Any, Any]", value).values()
    elif isinstance(value, list | tuple):
        parts = cast("Iterable[Any]", value)
    for part in parts:
        yield from _arrays_in(part)
