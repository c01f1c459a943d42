"""A gate in front of any service: a request has its ticket before the service sees it, and until it is over."""

from __future__ import annotations

import threading  # noqa: TID251 - leases are counted on several threads
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from types import TracebackType
from typing import Any, Protocol, Self

from adapters.base import Arrays, Opener
from harness.service.config import ServiceConfig
from harness.service.memory_gate import GateConfig, MemoryGate, Ticket
from harness.service.memory_source import MemorySource

__all__ = ["AnyService", "GatedConfig", "GatedService", "TicketObserver", "bytes_of", "gated"]

AnyFuture = Future[Any]


class AnyService(Protocol):
    """A queue or a pool, ours or somebody's own: futures are `concurrent.futures.Future`."""

    def submit(self, inputs: Any, **options: Any) -> Any:
        """Accept one request or raise."""

    def close(self, **options: Any) -> None:
        """End it."""


def bytes_of(inputs: Arrays) -> int:
    """The length of a request in bytes of its inputs, which the service copies."""
    return sum(value.nbytes for value in inputs.values())


class TicketObserver:
    """Passes on what a service tells, and keeps the tickets of cancelled tasks until their native calls have returned.

    A task that is cancelled while it runs has its outcome at once, but its buffers are in use until the call returns.
    Give this to the service as its observer. It takes no lock but its own, for a moment.
    """

    def __init__(self, inner: Any = None) -> None:
        self._inner = inner
        self._lock = threading.Lock()
        # Tasks that a worker has taken and whose call has not returned, each with the ticket that then is released.
        self._taken: dict[AnyFuture, Ticket | None] = {}
        # By worker, which tells of all of them on its own thread: several tasks where equal requests share a run.
        self._by_worker: dict[threading.Thread, list[AnyFuture]] = {}

    def release(self, future: AnyFuture, ticket: Ticket) -> None:
        """Release the ticket of a task that has its outcome: now, or when its native call has returned."""
        with self._lock:
            if future in self._taken:
                self._taken[future] = ticket
                return
        ticket.release()

    def dequeued(self, future: AnyFuture) -> None:
        """Told under the service's lock, so that no cancel comes between the start of the task and this."""
        with self._lock:
            self._taken[future] = None
            self._by_worker.setdefault(threading.current_thread(), []).append(future)
        self._pass("dequeued", future)

    def leased(self, slot: int, future: AnyFuture) -> None:
        """Passed on."""
        self._pass("leased", slot, future)

    def returned(self, slot: int) -> None:
        """The native call has returned."""
        self._pass("returned", slot)
        with self._lock:
            over = self._by_worker.pop(threading.current_thread(), [])
            tickets = [self._taken.pop(future, None) for future in over]
        _release_all(tickets)

    def state(self, name: str) -> None:
        """The service changed its state. Once it is closed no call is in flight."""
        self._pass("state", name)
        if name != "closed":
            return
        with self._lock:
            left = list(self._taken.values())
            self._taken.clear()
            self._by_worker.clear()
        _release_all(left)

    def __getattr__(self, name: str) -> Any:
        """Whatever else a service tells is passed on."""
        return getattr(self._inner, name)

    def _pass(self, name: str, *values: Any) -> None:
        hear = getattr(self._inner, name, None)
        if hear is not None:
            hear(*values)


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedConfig(ServiceConfig):
    """A service's configuration with that of the gate in front of it; no `memory` is this machine's own."""

    gate: GateConfig
    memory: MemorySource | None = None


def gated(make: Callable[[Opener, ServiceConfig], Any], opener: Opener, config: GatedConfig) -> GatedService:
    """Make a service with the gate of its configuration in front of it."""
    observer = TicketObserver(config.observer)
    service = make(opener, replace(config, observer=observer))
    return GatedService(service, MemoryGate(config.gate, config.memory), observer=observer)


def _release_all(tickets: Iterable[Ticket | None]) -> None:
    for ticket in tickets:
        if ticket is not None:
            ticket.release()


class GatedService:
    """Any service with `submit` and `close`, behind a gate. Everything else it has is reached as before.

    `submit` raises MemoryPressureError where the gate refuses; the service does not hear of that request. The ticket is
    released when the future is done; with `observer`, which the service must have been given, not before the task's
    native call has returned. Without it, a service that cancels running tasks frees their tickets too early.
    """

    def __init__(
        self,
        service: AnyService,
        gate: MemoryGate,
        *,
        length: Callable[[Any], int] = bytes_of,
        observer: TicketObserver | None = None,
    ) -> None:
        self._service = service
        self._gate = gate
        self._length = length
        self._observer = observer

    def submit(self, inputs: Any, **options: Any) -> Any:
        """Submit through the gate; on any thread, under no lock."""
        ticket = self._gate.admit(self._length(inputs))
        try:
            future = self._service.submit(inputs, **options)
        except BaseException:
            ticket.release()
            raise
        future.add_done_callback(partial(self._release, ticket))
        return future

    def close(self, **options: Any) -> None:
        """Close the service."""
        self._service.close(**options)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _release(self, ticket: Ticket, future: AnyFuture) -> None:
        if self._observer is None:
            ticket.release()
        else:
            self._observer.release(future, ticket)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._service, name)
