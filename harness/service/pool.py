"""The session pool: several isolated sessions behind one bounded queue."""

from __future__ import annotations

from adapters.base import Session
from harness.service.bounded import BoundedService

__all__ = ["SessionPool"]


class SessionPool(BoundedService):
    """`config.slots` slots, each with its own session, delegate and worker; tasks start in order of acceptance.

    A session is opened, run and closed on its slot's worker and never seen by another thread, `interrupt` apart.
    """

    def _open_slot(self) -> Session:
        return self._open_by_policy()

    def _release_slot(self, session: Session) -> None:
        session.close()
