"""One run fails in the runtime."""

from adapters.base import RunError
from harness.faults.fault import Fault, Hit, Scope

__all__ = ["RUN_FAILURE"]


def _strike(hit: Hit) -> None:
    message = f"injected: the run failed [{hit.task}]"
    raise RunError(message)


RUN_FAILURE = Fault(
    name="run-failure",
    point="invoke",
    says="one run fails in the runtime",
    scope=Scope.REQUEST,
    strike=_strike,
)
