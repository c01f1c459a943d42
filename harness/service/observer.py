"""What a service tells about itself, to whoever was given to it at construction."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from harness.service.future import InferenceFuture

__all__ = ["NullObserver", "Observer", "heard"]


class Observer(Protocol):
    """Hears what cannot be seen from outside. Calls come in the order in which things happened.

    `dequeued` (on a worker), `ended`, `recovery`, `health`, `closing` and `state` (on whichever thread made the change)
    are called under the service's lock: told later, a task accepted into the freed place could be heard of before the
    dequeue that freed it, and two states in the wrong order. `leased`, `returned` and `slot` are called on the slot's
    worker, with no lock held. An observer must not block and must not call the service or a future. It must not raise:
    a worker that it breaks closes the service. `ended`, `slot`, `recovery`, `health` and `closing` may be missing.
    """

    def dequeued(self, future: InferenceFuture) -> None:
        """A worker took the task: it is running now. May be called before the task's `submit` has returned."""

    def leased(self, slot: int, future: InferenceFuture) -> None:
        """The task (of several that share a run, one) has the slot, numbered from 0. The session sees it afterwards."""

    def returned(self, slot: int) -> None:
        """The session's call has returned and the slot is free. Called before the outcome is visible."""

    def state(self, name: str) -> None:
        """The service is now `accepting`, `draining` or `closed`. A service whose constructor raises tells nothing."""

    def ended(self, future: InferenceFuture, how: str) -> None:
        """The task is `EXPIRED` or `REPLACED`; or it ended before its run did and a `late` result was dropped."""

    def slot(self, slot: int, state: str) -> None:
        """The slot is now `opening`, `ready`, `quarantined`, `rebuilding`, `lost` or `closed`."""

    def recovery(self, slot: int, step: str) -> None:
        """The slot's recovery has reached this step: see `harness.service.recovery.Step`."""

    def health(self, name: str) -> None:
        """The service is now `healthy` or `unhealthy`; it starts out healthy."""

    def closing(self, reason: str) -> None:
        """The service is being closed, for this reason. Called before it is `draining`."""


class NullObserver(Observer):
    """Hears everything and does nothing."""


def heard(observer: Observer, name: str) -> Callable[..., Any]:
    """The observer's method, or one that does nothing: it may have been written before there was such a call."""
    return getattr(observer, name, _ignore)


def _ignore(*_: object) -> None:
    pass
