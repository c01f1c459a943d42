"""KNOWN BAD, ON PURPOSE: the positive control. Never put this in front of a model whose answers matter."""

from __future__ import annotations

from typing import ClassVar

from adapters.base import Opener, Session
from harness.service.bounded import BoundedService
from harness.service.config import ServiceConfig

__all__ = ["UnsafeShared"]


class UnsafeShared(BoundedService):
    """Two workers run ONE session at the same time, with no lock: one task's inputs are overwritten by the other's.

    This exists so that a run can show that it would notice. A suite in which this service passes has proved nothing.
    Everything but the sharing is the real queue, so that what breaks is `own-output`, `one-task-per-session` and
    `owner-thread` and nothing else: the session is opened once, closed once, and only when both workers have left it.
    It is never interrupted, since that could hit the other worker's task. `config.slots` is ignored.
    """

    known_bad: ClassVar[bool] = True
    workers: ClassVar[int] = 2

    def __init__(self, open_session: Opener, config: ServiceConfig) -> None:
        self._shared: Session | None = None
        self._users = 0
        super().__init__(open_session, config)

    @property
    def _workers(self) -> int:
        return self.workers

    def _open_slot(self) -> Session:
        # Slots open one after the other, so the second worker always finds the first one's session.
        if self._shared is None:
            self._shared = self._open_by_policy()
        self._users += 1
        return self._shared

    def _release_slot(self, session: Session) -> None:
        with self._lock:
            self._users -= 1
            last = self._users == 0
        if last:
            session.close()

    def _interruptible(self, session: Session) -> Session | None:
        del session
        return None
