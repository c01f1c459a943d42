"""Residency: clients of one model share one service, and with it the sessions, instead of loading the model again."""

from __future__ import annotations

import threading  # noqa: TID251 - clients come and go on several threads
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from harness.service.config import ServiceConfig
from harness.service.errors import ServiceClosedError

__all__ = ["ResidentClient", "ResidentConfig", "Residents"]


@dataclass(slots=True, eq=False)
class _Entry:
    """One resident service. `clients` counts those that have it; it is closed by the last one, and never used again."""

    made: Future[Any] = field(default_factory=Future)
    clients: int = 0


class Residents:
    """Services by model: who asks for one that is there shares it, and the last client to leave closes it.

    A service is anything with `submit` and `close`. The key is what makes two models the same, such as the digest of
    their bytes and the delegate. Any thread may call; a service is made and closed with no lock held, and whoever asks
    for it meanwhile waits for nobody else's.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: dict[Hashable, _Entry] = {}
        self._loads: dict[Hashable, int] = {}

    def client(self, key: Hashable, make: Callable[[], Any]) -> ResidentClient:
        """Join the resident service of this key, or make it; clients that come first together make it once.

        Raises what `make` raised, to everybody who waited for it; the next one tries again.
        """
        with self._lock:
            entry = self._entries.get(key)
            mine = entry is None
            if entry is None:
                entry = self._entries[key] = _Entry()
                self._loads[key] = self._loads.get(key, 0) + 1
            entry.clients += 1
        if mine:
            self._make(key, entry, make)
        return ResidentClient(self, key, entry, entry.made.result())

    def loads(self) -> dict[Hashable, int]:
        """How often the service of each key was made so far: 1 says that all its clients shared one load."""
        with self._lock:
            return dict(self._loads)

    def leave(self, key: Hashable, entry: _Entry) -> bool:
        """For a client: whether it was the last one, which has to close the service."""
        with self._lock:
            entry.clients -= 1
            last = entry.clients == 0
            if last and self._entries.get(key) is entry:
                del self._entries[key]  # whoever comes now makes another: this one is being closed
            return last

    def _make(self, key: Hashable, entry: _Entry, make: Callable[[], Any]) -> None:
        try:
            entry.made.set_result(make())
        except BaseException as error:
            with self._lock:
                del self._entries[key]
            entry.made.set_exception(error)
            raise


class ResidentClient:
    """One client of a resident service. What the service has besides `submit` and `close` is reached through it."""

    def __init__(self, residents: Residents, key: Hashable, entry: _Entry, service: Any) -> None:
        self._residents, self._key, self._entry = residents, key, entry
        self._service = service
        self._lock = threading.Lock()
        self._left = self._was_last = False

    def submit(self, inputs: Any, **options: Any) -> Any:
        """Submit to the shared service. Raises ServiceClosedError once this client has closed."""
        if self._left:
            message = "this client has left"
            raise ServiceClosedError(message)
        return self._service.submit(inputs, **options)

    def close(self, **options: Any) -> None:
        """Leave; the last client closes the service, with these options, and returns when that is done.

        What this client has submitted goes on to its outcome while others hold the service.
        """
        with self._lock:
            if not self._left:
                self._left = True
                self._was_last = self._residents.leave(self._key, self._entry)
        if self._was_last:
            self._service.close(**options)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._service, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidentConfig(ServiceConfig):
    """A service's configuration where the model may be resident already: the residents, and what it is known by."""

    residents: Residents
    model_key: Hashable
