"""How a service is set up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from adapters.base import Session
from harness.service.floors import reserve
from harness.service.journal import Journal
from harness.service.lifecycle import ClosePolicy
from harness.service.observer import NullObserver, Observer
from harness.service.requests import Ordering, RequestClass
from harness.service.shapes import ShapePlan

__all__ = ["DelegatePolicy", "Opening", "ServiceConfig"]


class DelegatePolicy(StrEnum):
    """Which path a slot opens on: its delegate or fail, its delegate or else the plain CPU path, or the CPU path."""

    REQUIRE = "require"
    PREFER = "prefer"
    CPU_ONLY = "cpu-only"


class Opening(StrEnum):
    """When slots open: all in the constructor, or each when there is work that the open ones cannot take at once."""

    EAGER = "eager"
    LAZY = "lazy"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceConfig:
    """The configuration of a queue or a pool. Times are in seconds.

    `capacity` is how many accepted tasks may wait; those that run do not count. `slots` is how many sessions there are,
    each with its own worker thread. `classes` are the request classes; `default` is always there. `run_budget` is the
    longest that a run may take, and `abandoned_limit` how many runs that nobody waits for may be in flight before
    admission stops. `health_check` is asked, on the slot's worker, whether a session in doubt is sound. `journal`
    remembers the tasks of classes that must finish. `events` is how many entries the event ring holds, 0 for no ring.
    `model_version` is what results name as their model until a switch. `shapes` says which dynamic shapes are taken.
    `options` are for a user's own service, as its suite sets them; ours take none. Raises TypeError or ValueError for
    what makes no service.
    """

    capacity: int
    slots: int = 1
    delegate: DelegatePolicy = DelegatePolicy.REQUIRE
    observer: Observer = field(default_factory=NullObserver, repr=False)
    options: Mapping[str, bool | int | str] = field(default_factory=dict[str, bool | int | str])
    classes: tuple[RequestClass, ...] = ()
    ordering: Ordering = Ordering.FIFO
    run_budget: float | None = None
    abandoned_limit: int | None = None
    health_check: Callable[[Session], bool] | None = None
    opening: Opening = Opening.EAGER
    close_policy: ClosePolicy = field(default_factory=ClosePolicy)
    journal: Journal | None = None
    model_version: str | None = None
    events: int = 0
    shapes: ShapePlan | None = None

    def __post_init__(self) -> None:
        _at_least_one("capacity", self.capacity)
        _at_least_one("slots", self.slots)
        if self.events != 0:
            _at_least_one("events", self.events)
        if self.abandoned_limit is not None:
            _at_least_one("abandoned_limit", self.abandoned_limit)
        if self.run_budget is not None and not self.run_budget > 0:
            message = f"run_budget must be above 0, not {self.run_budget}"
            raise ValueError(message)
        for name, kind in (("delegate", DelegatePolicy), ("ordering", Ordering), ("opening", Opening)):
            object.__setattr__(self, name, _one_of(kind, name, getattr(self, name)))
        names = [each.name for each in self.classes]
        if len(set(names)) < len(names):
            message = f"two request classes of one name: {', '.join(names)}"
            raise ValueError(message)
        if self.journal is None and any(each.journal for each in self.classes):
            message = "a request class that must finish needs a journal"
            raise ValueError(message)
        reserve([each.floor for each in self.classes])


def _one_of(kind: type[StrEnum], name: str, value: object) -> StrEnum:
    try:
        return kind(value)
    except ValueError:
        message = f"{name} must be one of {', '.join(kind)}, not {value!r}"
        raise ValueError(message) from None


def _at_least_one(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        message = f"{name} must be an integer, not {type(value).__name__}"
        raise TypeError(message)
    if value < 1:
        message = f"{name} must be at least 1, not {value}"
        raise ValueError(message)
