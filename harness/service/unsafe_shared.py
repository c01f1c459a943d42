"""KNOWN BAD, ON PURPOSE: the positive control. Never put this in front of a model whose answers matter."""

from __future__ import annotations

import threading  # noqa: TID251 - the service owns its threads and locks
from typing import ClassVar

from adapters.base import Opener, Session
from harness.service.bounded import BoundedService
from harness.service.config import DelegatePolicy, ServiceConfig
from harness.service.requests import CAPABILITIES
from harness.service.slot import open_by_policy

__all__ = ["UnsafeShared"]


class UnsafeShared(BoundedService):
    """Two workers run ONE session at the same time, with no lock: one task's inputs are overwritten by the other's.

    This exists so that a run can show that it would notice. A suite in which this service passes has proved nothing.
    Everything but the sharing is the real queue, so that what breaks is `own-output`, `one-task-per-session` and
    `owner-thread` and nothing else: the session is opened once, closed once, and only when both workers have left it.
    It is never interrupted, since that could hit the other worker's task. `config.slots` is ignored.
    """

    capabilities: ClassVar[frozenset[str]] = CAPABILITIES - {"model_switch"}  # its slots have no session of their own
    known_bad: ClassVar[bool] = True
    workers: ClassVar[int] = 2

    def __init__(self, open_session: Opener, config: ServiceConfig) -> None:
        self._opening = threading.Lock()  # so that it is opened once: what is wrong here is the sharing alone
        self._shared: tuple[Session, bool] | None = None
        self._users = 0
        super().__init__(open_session, config)

    @property
    def _workers(self) -> int:
        return self.workers

    def _open_slot(self, opener: Opener, policy: DelegatePolicy) -> tuple[Session, bool]:
        with self._opening:
            if self._shared is None:
                self._shared = open_by_policy(opener, policy)
            self._users += 1
            return self._shared

    def _release_slot(self, session: Session) -> None:
        with self._opening:
            self._users -= 1
            if self._users:
                return
            self._shared = None
        session.close()

    def _interruptible(self, session: Session) -> Session | None:
        del session
        return None
