"""One run does not return, unless it is interrupted."""

from harness.faults.fault import Fault, Hit, Scope

__all__ = ["RUN_HANG"]


def _strike(hit: Hit) -> None:
    hit.hang(interruptible=True)


RUN_HANG = Fault(
    name="run-hang",
    point="invoke",
    says="one run hangs until it is interrupted, or until nobody else can move",
    scope=Scope.CONTEXT,
    strike=_strike,
)
