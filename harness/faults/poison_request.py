"""A task whose run always fails, so that a service which tries again clogs."""

from adapters.base import RunError
from harness.faults.fault import Fault, Hit, Lasts, Scope

__all__ = ["POISON_REQUEST"]


def _strike(hit: Hit) -> None:
    message = f"injected: the run failed, as it does each time [{hit.task}]"
    raise RunError(message)


POISON_REQUEST = Fault(
    name="poison-request",
    point="invoke",
    says="the runs of one task fail, however often it is tried",
    scope=Scope.REQUEST,
    strike=_strike,
    lasts=Lasts.TASK,
)
