"""The bounded serial queue: one session, one worker, one task at a time, in order of acceptance."""

from __future__ import annotations

from adapters.base import Opener
from harness.service.config import ServiceConfig
from harness.service.pool import SessionPool

__all__ = ["SerialQueue"]


class SerialQueue(SessionPool):
    """A pool of one slot, which makes its order of acceptance the order in which tasks run and end.

    Raises ValueError for a configuration with more than one slot.
    """

    def __init__(self, open_session: Opener, config: ServiceConfig) -> None:
        if config.slots != 1:
            message = f"a serial queue has one slot, not {config.slots}: use a pool"
            raise ValueError(message)
        super().__init__(open_session, config)
