"""Whether the service takes tasks: how many runs nobody waits for are in flight, and how many slots are left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from harness.service.errors import ServiceUnhealthyError

__all__ = ["Health"]


class Health:
    """Healthy while a slot is left and fewer than `limit` abandoned runs are in flight. Used under the service's lock.

    A run is abandoned when nobody waits for it any more while it is inside native code. It counts until its slot has a
    session again that proved sound, or is lost.
    """

    def __init__(self, slots: int, limit: int | None, tell: Callable[[str], None]) -> None:
        self.usable = slots
        self.abandoned = 0
        self.ok = True
        self._limit = limit
        self._tell = tell

    @property
    def name(self) -> Literal["healthy", "unhealthy"]:
        """How the service is."""
        return "healthy" if self.ok else "unhealthy"

    def error(self) -> ServiceUnhealthyError:
        """Why no task is taken."""
        return ServiceUnhealthyError(f"{self.abandoned} run(s) that nobody waits for, {self.usable} slot(s) left")

    def update(self, *, abandoned: int = 0, usable: int | None = None) -> bool:
        """Count abandoned runs up or down, and say how many slots are left; True if the answer changed."""
        self.abandoned += abandoned
        if usable is not None:
            self.usable = usable
        was, self.ok = self.ok, self.usable > 0 and (self._limit is None or self.abandoned < self._limit)
        if self.ok is not was:
            self._tell(self.name)
        return self.ok is not was
