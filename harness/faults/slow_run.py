"""One run takes long, and succeeds."""

from harness.faults.fault import Fault, Hit, Scope

__all__ = ["SLOW_RUN"]

RUN_SECONDS = 5.0


def _strike(hit: Hit) -> None:
    hit.sleep(RUN_SECONDS)


SLOW_RUN = Fault(
    name="slow-run",
    point="invoke",
    says="one run takes 5 virtual seconds, then succeeds",
    scope=Scope.REQUEST,
    strike=_strike,
)
