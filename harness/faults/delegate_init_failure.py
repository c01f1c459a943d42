"""The delegate does not start; the plain CPU path does."""

from adapters.base import DelegateInitError
from harness.faults.fault import Fault, Hit

__all__ = ["DELEGATE_INIT_FAILURE"]


def _strike(hit: Hit) -> None:
    del hit
    message = "injected: the delegate does not start"
    raise DelegateInitError(message)


DELEGATE_INIT_FAILURE = Fault(
    name="delegate-init-failure",
    point="session-open",
    says="the delegate does not start, now and later; the fallback path does",
    strike=_strike,
    persistent=True,
    spares_fallback=True,
)
