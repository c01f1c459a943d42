"""Every run fails from now on, on whatever session."""

from adapters.base import RunError
from harness.faults.fault import Fault, Hit, Lasts, Scope

__all__ = ["PERSISTENT_RUN_FAILURE"]


def _strike(hit: Hit) -> None:
    message = f"injected: the run failed, as every one does [{hit.task}]"
    raise RunError(message)


PERSISTENT_RUN_FAILURE = Fault(
    name="persistent-run-failure",
    point="invoke",
    says="every run fails from then on",
    scope=Scope.DEVICE,
    strike=_strike,
    lasts=Lasts.FOR_GOOD,
)
