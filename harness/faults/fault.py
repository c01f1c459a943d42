"""What a fault family is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, Protocol

from adapters.base import Scope

if TYPE_CHECKING:
    from harness.faults.native.library import Kind, Point

__all__ = ["RUN_POINTS", "Fault", "Hit", "Lasts", "NativeStrike", "Outputs", "Scope", "nothing"]

Outputs = Mapping[str, Any]
"""Arrays by tensor name."""

RUN_POINTS = ("bind", "invoke", "fetch")
"""The points that belong to one run."""


class Lasts(StrEnum):
    """What a fault strikes again once it has struck."""

    ONCE = "once"
    TASK = "task"  # the same task at the same point, whoever tries it again
    SESSION = "session"  # every later step of a run on that session; another session is sound
    DEVICE = "device"  # the same for each session that was open then; one opened later is sound
    FOR_GOOD = "for-good"  # every later call at its point


class Hit(Protocol):
    """Where a fault strikes: one session call. Its methods are called on the thread that makes the call."""

    task: str | None
    """The TaskId, which an error text may name: a checker then sees when it reaches another task."""

    fallback: bool
    """Whether the session is being opened on the fallback path."""

    previous: Outputs | None
    """What the session's run before this one gave, where a fault that needs it is armed."""

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass inside the call."""

    def hang(self, *, interruptible: bool) -> None:
        """Stay inside the call until nobody else can move; then it goes on.

        An interrupt of the session ends it earlier where it is `interruptible`: raises RunInterruptedError then.
        """

    def jump(self, seconds: float) -> None:
        """Put every clock forward at once, as after a suspend."""


def nothing(hit: Hit) -> None:
    """Leave the call alone, for faults that change what it returns."""
    del hit


@dataclass(frozen=True, slots=True)
class NativeStrike:
    """What is armed in the native fault library just before the call, at the next arrival at that point.

    `bind-threads` is no strike: whatever is opened from then on runs on the thread that opened it, or fails. `seconds`
    of virtual time are how long a hang lasts; None: until nobody else can move.
    """

    kind: Kind | Literal["bind-threads"]
    at: Point
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One kind of failure.

    `strike` runs just before the native call: it raises what the runtime would raise, or keeps the call from going on.
    `alter` runs just after a fetch, and gives what the runtime is to have returned. `spares_fallback` leaves the
    fallback path alone. `needs_previous`: a session's first run cannot be struck. `native` strikes inside the native
    call, and only on sessions that were opened through the native fault library. `around` is what the native call runs
    in; a call that comes through it was not struck, and `comes_through` says why in one line, after the fault's name.
    `kills`: the process dies of it, and the cell with it.
    """

    name: str
    point: str
    says: str
    scope: Scope
    strike: Callable[[Hit], None] = nothing
    alter: Callable[[Hit, Outputs], Outputs] | None = None
    lasts: Lasts = Lasts.ONCE
    spares_fallback: bool = False
    needs_previous: bool = False
    native: NativeStrike | None = None
    around: Callable[[], AbstractContextManager[None]] = nullcontext
    comes_through: str = ""
    kills: bool = False
