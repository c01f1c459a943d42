"""Classes of requests: how many of them may wait, what happens when they are too many, and which goes first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["CAPABILITIES", "DEFAULT_CLASS", "Ordering", "OverflowPolicy", "RequestClass"]

DEFAULT_CLASS = "default"
CAPABILITIES = frozenset({
    "callbacks", "classes", "close-deadline", "close-reason", "counters", "deadline", "drain", "earliest-deadline",
    "fair-share", "fallback", "fifo", "freshness", "incidents", "journal", "leases", "lifecycle", "model_switch",
    "overflow:block", "overflow:coalesce", "overflow:keep-latest", "overflow:reject", "overflow:replace-oldest",
    "priority", "retry-link", "run-budget", "running_cancel", "shapes", "states", "tells-dequeue", "unhealthy",
})  # fmt: skip
"""What our services declare that they can do, beyond the contract's least."""


class OverflowPolicy(StrEnum):
    """What `submit` does with a request for which there is no place. Every caller it displaces is told.

    `reject` refuses it. `replace-oldest` ends the oldest waiting task of its class as REPLACED; `keep-latest` does so
    whenever one waits, so that at most one does. `coalesce` lets a request join the waiting one of its class with an
    equal key, full or not: one run answers them all; it refuses where there is no equal key. `block` waits for a place.
    """

    REJECT = "reject"
    REPLACE_OLDEST = "replace-oldest"
    KEEP_LATEST = "keep-latest"
    COALESCE = "coalesce"
    BLOCK = "block"


_KEEPS = (OverflowPolicy.REJECT, OverflowPolicy.BLOCK)


class Ordering(StrEnum):
    """Which waiting task starts next; among equals the one that was accepted first. A task that runs is never stopped.

    `fair-share` gives classes that have tasks waiting starts in proportion to their weights. Under every ordering but
    `fifo`, where everybody's turn comes, a class with a floor gets at least that share of the starts.
    """

    FIFO = "fifo"
    PRIORITY = "priority"
    EARLIEST_DEADLINE = "earliest-deadline"
    FAIR_SHARE = "fair-share"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestClass:
    """One class of requests. Times are in seconds.

    `capacity` bounds the waiting tasks of the class, within the total of the service. `block_seconds` is how long a
    `block` class waits for a place, None for as long as it takes. `priority` (higher first) and `deadline` are what a
    request of the class has unless it brings its own. `weight` and `floor` are the class's share of the starts:
    `floor` of 0.25 is one start in any four while it has tasks waiting. `journal` marks work that must finish: it is
    neither replaced nor expired, and the service needs a Journal.
    """

    name: str = DEFAULT_CLASS
    capacity: int | None = None
    overflow: OverflowPolicy = OverflowPolicy.REJECT
    block_seconds: float | None = None
    priority: int = 0
    weight: float = 1.0
    floor: float = 0.0
    deadline: float | None = None
    journal: bool = False

    def __post_init__(self) -> None:
        if not self.name:
            message = "a request class needs a name"
            raise ValueError(message)
        object.__setattr__(self, "overflow", OverflowPolicy(self.overflow))
        if self.capacity is not None and self.capacity < 1:
            message = f"class {self.name!r}: capacity must be at least 1, not {self.capacity}"
            raise ValueError(message)
        for field in ("block_seconds", "deadline", "weight"):
            value = getattr(self, field)
            if value is not None and not (value > 0 and math.isfinite(value)):
                message = f"class {self.name!r}: {field} must be above 0, not {value}"
                raise ValueError(message)
        if self.journal and (self.overflow not in _KEEPS or self.deadline is not None):
            message = f"class {self.name!r}: work that must finish is rejected or blocks, and has no deadline"
            raise ValueError(message)
        if not 0 <= self.floor <= 1:
            message = f"class {self.name!r}: floor must be from 0 to 1, not {self.floor}"
            raise ValueError(message)
