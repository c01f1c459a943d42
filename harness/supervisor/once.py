"""Computes a value once for each key, whichever thread asks first."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

__all__ = ["Once"]

Value = TypeVar("Value")


class Once(Generic[Value]):
    """Used from any thread. An error is kept like a value and raised to everybody who asks."""

    def __init__(self) -> None:
        self._values: dict[bytes, Future[Value]] = {}

    def get(self, key: bytes, compute: Callable[[], Value]) -> Value:
        """Return the value for `key`; other threads wait for the one that asked first and computes."""
        mine: Future[Value] = Future()
        future = self._values.setdefault(key, mine)
        if future is mine:
            try:
                mine.set_result(compute())
            except BaseException as error:
                mine.set_exception(error)
                raise
        return future.result()
