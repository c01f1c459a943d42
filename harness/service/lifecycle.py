"""The states of a service, why it closes, and what that means for its tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

__all__ = ["CloseBehaviour", "ClosePolicy", "CloseReason", "State"]


class State(StrEnum):
    """Where a service is in its life; there is no way back."""

    OPENING = "opening"  # inside the constructor; nobody outside sees it
    ACCEPTING = "accepting"
    DRAINING = "draining"
    CLOSED = "closed"


class CloseReason(StrEnum):
    """Why a service is closed. The first reason given is kept."""

    PAGE_CLOSED = "page-closed"
    LOGGED_OUT = "logged-out"
    BACKGROUND = "background"
    MODEL_SWITCH = "model-switch"
    SHUTDOWN = "shutdown"


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseBehaviour:
    """What closing does with accepted tasks.

    With `drain` they run, for `deadline` seconds if there is one; then, or at once without `drain`, those that wait are
    CANCELLED. Those that run then are delivered, or, with `drop_results`, CANCELLED too.
    """

    drain: bool = True
    deadline: float | None = None
    drop_results: bool = False

    def __post_init__(self) -> None:
        if self.deadline is not None and self.deadline < 0:
            message = f"a closing deadline must not be negative: {self.deadline}"
            raise ValueError(message)


_BEHAVIOURS: Mapping[CloseReason, CloseBehaviour] = MappingProxyType(
    {
        CloseReason.PAGE_CLOSED: CloseBehaviour(drain=False, drop_results=True),  # nobody looks at the results any more
        CloseReason.LOGGED_OUT: CloseBehaviour(drain=False, drop_results=True),  # nobody may look at them any more
        CloseReason.BACKGROUND: CloseBehaviour(deadline=5.0),  # systems grant an app that leaves a few seconds
        CloseReason.MODEL_SWITCH: CloseBehaviour(),
        CloseReason.SHUTDOWN: CloseBehaviour(),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosePolicy:
    """Which behaviour a reason stands for; reasons that `behaviours` leaves out keep the default."""

    behaviours: Mapping[CloseReason, CloseBehaviour] = field(default_factory=dict[CloseReason, CloseBehaviour])

    def behaviour(self, reason: CloseReason) -> CloseBehaviour:
        """What closing for this reason does."""
        return self.behaviours.get(reason, _BEHAVIOURS[reason])
