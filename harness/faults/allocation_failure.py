"""There is no memory for a run's tensors."""

from harness.faults.fault import Fault, Hit, Scope

__all__ = ["ALLOCATION_FAILURE"]


def _strike(hit: Hit) -> None:
    message = f"injected: no memory for the tensors [{hit.task}]"
    raise MemoryError(message)


ALLOCATION_FAILURE = Fault(
    name="allocation-failure",
    point="bind",
    says="there is no memory for the tensors of one run",
    scope=Scope.REQUEST,
    strike=_strike,
)
