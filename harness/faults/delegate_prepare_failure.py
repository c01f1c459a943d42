"""The delegate starts, and then does not take this graph."""

from adapters.base import DelegateInitError
from harness.faults.fault import Fault, Hit, Lasts, Scope

__all__ = ["DELEGATE_PREPARE_FAILURE", "DelegatePrepareError"]


class DelegatePrepareError(DelegateInitError):
    """The delegate could not prepare the graph."""


def _strike(hit: Hit) -> None:
    del hit
    message = "injected: the delegate does not take the graph"
    raise DelegatePrepareError(message)


DELEGATE_PREPARE_FAILURE = Fault(
    name="delegate-prepare-failure",
    point="session-open",
    says="the delegate does not take the graph, now and later; the fallback path does",
    scope=Scope.CONTEXT,
    strike=_strike,
    lasts=Lasts.FOR_GOOD,
    spares_fallback=True,
)
