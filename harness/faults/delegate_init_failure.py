"""The delegate does not start; the plain CPU path does."""

from adapters.base import DelegateInitError
from harness.faults.fault import Fault, Hit, Lasts, Scope

__all__ = ["DELEGATE_INIT_FAILURE"]


def _strike(hit: Hit) -> None:
    del hit
    message = "injected: the delegate does not start"
    raise DelegateInitError(message)


DELEGATE_INIT_FAILURE = Fault(
    name="delegate-init-failure",
    point="session-open",
    says="the delegate does not start, now and later; the fallback path does",
    scope=Scope.CONTEXT,
    strike=_strike,
    lasts=Lasts.FOR_GOOD,
    spares_fallback=True,
)
