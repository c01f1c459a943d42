"""The delegate is not there when it is asked for once: its driver is busy."""

from adapters.base import DelegateInitError
from harness.faults.fault import Fault, Hit, Scope

__all__ = ["DELEGATE_CREATE_FAILURE"]


def _strike(hit: Hit) -> None:
    del hit
    message = "injected: the delegate was not created"
    raise DelegateInitError(message)


DELEGATE_CREATE_FAILURE = Fault(
    name="delegate-create-failure",
    point="session-open",
    says="the delegate is not created, once; the fallback path is",
    scope=Scope.CONTEXT,
    strike=_strike,
    spares_fallback=True,
)
