"""The runtime gives one run up after its time."""

from adapters.base import RunError
from harness.faults.fault import Fault, Hit, Scope

__all__ = ["RUN_TIMEOUT", "RunTimeoutError"]

RUN_SECONDS = 5.0


class RunTimeoutError(RunError):
    """The runtime gave the run up after its time."""


def _strike(hit: Hit) -> None:
    hit.sleep(RUN_SECONDS)
    message = f"injected: the run timed out [{hit.task}]"
    raise RunTimeoutError(message)


RUN_TIMEOUT = Fault(
    name="run-timeout",
    point="invoke",
    says="one run takes 5 virtual seconds, then the runtime gives it up",
    scope=Scope.REQUEST,
    strike=_strike,
)
