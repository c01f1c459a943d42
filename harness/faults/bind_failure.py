"""The runtime does not take the inputs of one run."""

from adapters.base import RunError
from harness.faults.fault import Fault, Hit, Scope

__all__ = ["BIND_FAILURE"]


def _strike(hit: Hit) -> None:
    message = f"injected: the inputs were not taken [{hit.task}]"
    raise RunError(message)


BIND_FAILURE = Fault(
    name="bind-failure",
    point="bind",
    says="the runtime does not take the inputs of one run",
    scope=Scope.REQUEST,
    strike=_strike,
)
