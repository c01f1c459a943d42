"""The session does not open: the model does not load."""

from adapters.base import ModelLoadError
from harness.faults.fault import Fault, Hit, Scope

__all__ = ["SESSION_OPEN_FAILURE"]


def _strike(hit: Hit) -> None:
    del hit
    message = "injected: the model does not load"
    raise ModelLoadError(message)


SESSION_OPEN_FAILURE = Fault(
    name="session-open-failure",
    point="session-open",
    says="a session does not open: its model does not load",
    scope=Scope.CONTEXT,
    strike=_strike,
)
