"""How a service is set up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from harness.service.observer import NullObserver, Observer

__all__ = ["DelegatePolicy", "ServiceConfig"]


class DelegatePolicy(StrEnum):
    """What to do when a slot's delegate does not start: fail, or open that slot on the plain CPU path and count it."""

    REQUIRE = "require"
    PREFER = "prefer"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceConfig:
    """The configuration of a queue or a pool.

    `capacity` is how many accepted tasks may wait; those that run do not count. `slots` is how many sessions there are,
    each with its own worker thread. `options` are for a user's own service, as its suite sets them; ours take none.
    Raises TypeError or ValueError for a value that makes no service.
    """

    capacity: int
    slots: int = 1
    delegate: DelegatePolicy = DelegatePolicy.REQUIRE
    observer: Observer = field(default_factory=NullObserver, repr=False)
    options: Mapping[str, bool | int | str] = field(default_factory=dict[str, bool | int | str])

    def __post_init__(self) -> None:
        _at_least_one("capacity", self.capacity)
        _at_least_one("slots", self.slots)
        try:
            policy = DelegatePolicy(self.delegate)
        except ValueError:
            message = f"delegate must be one of {', '.join(DelegatePolicy)}, not {self.delegate!r}"
            raise ValueError(message) from None
        object.__setattr__(self, "delegate", policy)


def _at_least_one(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        message = f"{name} must be an integer, not {type(value).__name__}"
        raise TypeError(message)
    if value < 1:
        message = f"{name} must be at least 1, not {value}"
        raise ValueError(message)
