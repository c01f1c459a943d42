"""The delegate is given up because it compiles for too long."""

from adapters.base import DelegateInitError
from harness.faults.fault import Fault, Hit, Scope

__all__ = ["COMPILE_TIMEOUT", "CompileTimeoutError"]

COMPILE_SECONDS = 60.0


class CompileTimeoutError(DelegateInitError):
    """The delegate took too long to compile the model."""


def _strike(hit: Hit) -> None:
    hit.sleep(COMPILE_SECONDS)
    message = "injected: the delegate was given up while it compiled"
    raise CompileTimeoutError(message)


COMPILE_TIMEOUT = Fault(
    name="compile-timeout",
    point="session-open",
    says="the delegate compiles for 60 virtual seconds and is given up, once; the fallback path opens",
    scope=Scope.CONTEXT,
    strike=_strike,
    spares_fallback=True,
)
