"""What holds session calls at points: the seam asks, the execution answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from harness.observe.native import Parked

__all__ = ["Gates"]


class Gates(Protocol):
    """Holds calls at points. Called on the thread that makes the call, `interrupted` on any."""

    def stand(self, point: str, task: str | None, session: str) -> None:
        """Return when no gate holds this call at this point."""

    def hang(self, point: str, task: str | None, session: str, *, interruptible: bool) -> bool:
        """Return when the session was interrupted (True), or when nobody else can move (False)."""
        ...

    def park(
        self, task: str | None, session: str, call: Callable[[], object], parked: Parked, seconds: float | None
    ) -> None:
        """Make a native call that hangs inside native code. Raises what it raised.

        For so many virtual `seconds`, in which its return may be chosen at any moment, or until nobody else can move.
        """

    def interrupted(self, session: str) -> None:
        """End what hangs on this session and can be interrupted."""
