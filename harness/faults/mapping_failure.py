"""A buffer of the device cannot be mapped."""

from adapters.base import RunError
from harness.faults.fault import Fault, Hit, Scope

__all__ = ["MAPPING_FAILURE", "MappingError"]


class MappingError(RunError):
    """A buffer of the device could not be mapped into the process."""


def _strike(hit: Hit) -> None:
    message = f"injected: a buffer cannot be mapped [{hit.task}]"
    raise MappingError(message)


MAPPING_FAILURE = Fault(
    name="mapping-failure",
    point="bind",
    says="a buffer of one run cannot be mapped",
    scope=Scope.REQUEST,
    strike=_strike,
)
