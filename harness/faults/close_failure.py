"""A session is not released: its close fails."""

from adapters.base import RunError
from harness.faults.fault import Fault, Hit, Scope

__all__ = ["CLOSE_FAILURE"]


def _strike(hit: Hit) -> None:
    del hit
    message = "injected: the session was not released"
    raise RunError(message)


CLOSE_FAILURE = Fault(
    name="close-failure",
    point="session-close",
    says="one session's close fails",
    scope=Scope.CONTEXT,
    strike=_strike,
)
