"""The session pool: several isolated sessions behind one bounded line."""

from __future__ import annotations

from adapters.base import Opener, Session
from harness.service.bounded import BoundedService
from harness.service.config import DelegatePolicy
from harness.service.slot import open_by_policy

__all__ = ["SessionPool"]


class SessionPool(BoundedService):
    """`config.slots` slots, each with its own session, delegate and worker; by default tasks start as accepted.

    A session is opened, run and closed on its slot's worker and never seen by another thread, `interrupt` apart.
    """

    def _open_slot(self, opener: Opener, policy: DelegatePolicy) -> tuple[Session, bool]:
        return open_by_policy(opener, policy)

    def _release_slot(self, session: Session) -> None:
        session.close()
