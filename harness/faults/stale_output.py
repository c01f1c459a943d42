"""One run gives what the session's run before it gave."""

from harness.faults.fault import Fault, Hit, Outputs, Scope

__all__ = ["STALE_OUTPUT"]


def _alter(hit: Hit, outputs: Outputs) -> Outputs:
    previous = outputs if hit.previous is None else hit.previous
    return {name: array.copy() for name, array in previous.items()}


STALE_OUTPUT = Fault(
    name="stale-output",
    point="fetch",
    says="one run returns what the session's run before it returned",
    scope=Scope.REQUEST,
    alter=_alter,
    needs_previous=True,
)
