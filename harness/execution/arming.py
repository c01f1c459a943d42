"""What a suite or the command line arms, as the fault plan takes it."""

from __future__ import annotations

from harness.faults.plan import Arming
from harness.suite.plan import FaultSpec

__all__ = ["arming_of"]


def arming_of(spec: FaultSpec) -> Arming:
    """The arming of one spec."""
    return Arming(
        name=spec.name,
        point=spec.point or None,
        nth=spec.nth,
        session=spec.session,
        task=spec.task,
        persistent=spec.persistent,
        probability=spec.probability,
        seed=spec.seed or 0,
    )
