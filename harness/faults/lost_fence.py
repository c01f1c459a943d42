"""The device never signals that it is done: who waits for that waits on."""

from harness.faults.fault import Fault, Hit, Scope

__all__ = ["LOST_FENCE"]


def _strike(hit: Hit) -> None:
    hit.hang(interruptible=False)


LOST_FENCE = Fault(
    name="lost-fence",
    point="fetch",
    says="one run's completion is not signalled: its fetch hangs until nobody else can move",
    scope=Scope.CONTEXT,
    strike=_strike,
)
