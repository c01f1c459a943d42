"""The queue and the pool as the suite knows them, with whatever their configuration puts in front of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adapters.base import Opener
from harness.service.config import ServiceConfig
from harness.service.gated_service import GatedConfig, gated
from harness.service.pool import SessionPool
from harness.service.queue import SerialQueue
from harness.service.requests import CAPABILITIES
from harness.service.residency import ResidentConfig

__all__ = ["capabilities", "pool", "queue"]

capabilities = CAPABILITIES | {"memory-gate", "residency"}


def queue(open_session: Opener, config: ServiceConfig) -> Any:
    """A `SerialQueue`: behind a gate, or a client of the resident one, where the configuration says so."""
    return _made(SerialQueue, open_session, config)


def pool(open_session: Opener, config: ServiceConfig) -> Any:
    """A `SessionPool`, in the same way."""
    return _made(SessionPool, open_session, config)


def _made(make: Callable[[Opener, ServiceConfig], Any], opener: Opener, config: ServiceConfig) -> Any:
    if isinstance(config, GatedConfig):
        return gated(make, opener, config)
    if isinstance(config, ResidentConfig):
        return config.residents.client(config.model_key, lambda: make(opener, config))
    return make(opener, config)
