"""One session call that a fault strikes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.base import RunInterruptedError
from harness.faults.fault import Outputs
from harness.history import Attr

if TYPE_CHECKING:
    from harness.observe.seam import Seam
    from harness.observe.session import ObservedSession

__all__ = ["SeamHit"]


class SeamHit:
    """Where a fault strikes. See `harness.faults.fault.Hit`."""

    def __init__(
        self, seam: Seam, session: ObservedSession, point: str, task: str | None, begin: dict[str, Attr]
    ) -> None:
        self.task = task
        self.call = begin["call"]
        self.fallback = bool(begin.get("fallback"))
        self.previous: Outputs | None = session.previous
        self._seam = seam
        self.session = session
        self._point = point
        self.fault = ""
        """What holds the call inside native code, by name."""
        self.held_seconds: float | None = None
        """How long native code is to hold the call, in virtual time; None: until nobody else can move."""

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass."""
        self._seam.world.sleep(seconds)

    def hang(self, *, interruptible: bool) -> None:
        """Stay inside the call until nobody else can move, or until an interrupt."""
        over = interruptible and self.session.interrupted
        if over or self._seam.gates.hang(self._point, self.task, self.session.name, interruptible=interruptible):
            message = f"injected: the run was interrupted [{self.task}]"
            raise RunInterruptedError(message)

    def jump(self, seconds: float) -> None:
        """Put every clock forward."""
        self._seam.world.jump(seconds)
