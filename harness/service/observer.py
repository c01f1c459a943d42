"""What a service tells about itself, to whoever was given to it at construction."""

from __future__ import annotations

from typing import Protocol

from harness.service.future import InferenceFuture

__all__ = ["NullObserver", "Observer"]


class Observer(Protocol):
    """Hears what cannot be seen from outside. Calls come in the order in which things happened.

    `dequeued` (on a worker) and `state` (on whichever thread made the change) are called under the service's lock: told
    later, a task accepted into the freed place could be heard of before the dequeue that freed it, and two states in
    the wrong order. `leased` and `returned` are called on the slot's worker, with no lock held. An observer must not
    block and must not call the service or a future. It must not raise: a worker that it breaks closes the service.
    """

    def dequeued(self, future: InferenceFuture) -> None:
        """A worker took the task: it is running now. May be called before the task's `submit` has returned."""

    def leased(self, slot: int, future: InferenceFuture) -> None:
        """The task has the slot, numbered from 0. Called before the session sees the task."""

    def returned(self, slot: int) -> None:
        """The session's call has returned and the slot is free. Called before the outcome is visible."""

    def state(self, name: str) -> None:
        """The service is now `accepting`, `draining` or `closed`. A service whose constructor raises tells nothing."""


class NullObserver:
    """Hears everything and does nothing."""

    def dequeued(self, future: InferenceFuture) -> None:
        """Do nothing."""

    def leased(self, slot: int, future: InferenceFuture) -> None:
        """Do nothing."""

    def returned(self, slot: int) -> None:
        """Do nothing."""

    def state(self, name: str) -> None:
        """Do nothing."""
