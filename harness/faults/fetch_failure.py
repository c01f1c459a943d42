"""The outputs of one run cannot be read."""

from adapters.base import RunError
from harness.faults.fault import Fault, Hit, Scope

__all__ = ["FETCH_FAILURE"]


def _strike(hit: Hit) -> None:
    message = f"injected: the outputs cannot be read [{hit.task}]"
    raise RunError(message)


FETCH_FAILURE = Fault(
    name="fetch-failure",
    point="fetch",
    says="the outputs of one run cannot be read",
    scope=Scope.REQUEST,
    strike=_strike,
)
