"""One run gives outputs of another rank."""

import numpy as np

from harness.faults.fault import Fault, Hit, Outputs, Scope

__all__ = ["WRONG_SHAPE"]


def _alter(hit: Hit, outputs: Outputs) -> Outputs:
    del hit
    return {name: np.expand_dims(array, 0) for name, array in outputs.items()}


WRONG_SHAPE = Fault(
    name="wrong-shape",
    point="fetch",
    says="one run returns outputs with a dimension too many",
    scope=Scope.REQUEST,
    alter=_alter,
)
