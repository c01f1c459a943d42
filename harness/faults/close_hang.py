"""The release of a session does not return."""

from harness.faults.fault import Fault, Hit, Scope

__all__ = ["CLOSE_HANG"]


def _strike(hit: Hit) -> None:
    hit.hang(interruptible=False)


CLOSE_HANG = Fault(
    name="close-hang",
    point="session-close",
    says="one session's close hangs until nobody else can move",
    scope=Scope.CONTEXT,
    strike=_strike,
)
