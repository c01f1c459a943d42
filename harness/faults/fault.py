"""What a fault family is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Fault", "Hit"]


class Hit(Protocol):
    """Where a fault strikes: one session call of one task."""

    task: str | None
    """The TaskId, which an error text may name: a checker then sees when it reaches another task."""

    fallback: bool
    """Whether the session is being opened on the fallback path."""

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass inside the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One kind of failure.

    `strike` raises what the runtime would raise, or makes the call slow; it runs just before the native call.

    `persistent` faults strike from the armed time on, others once. `spares_fallback` leaves the fallback path alone.
    """

    name: str
    point: str
    says: str
    strike: Callable[[Hit], None]
    persistent: bool = False
    spares_fallback: bool = False
