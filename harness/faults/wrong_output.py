"""One run computes something else."""

from typing import Any

import numpy as np

from harness.faults.fault import Fault, Hit, Outputs, Scope

__all__ = ["WRONG_OUTPUT"]


def _alter(hit: Hit, outputs: Outputs) -> Outputs:
    del hit
    return {name: _wrong(np.asarray(array)) for name, array in outputs.items()}


def _wrong(array: Any) -> Any:
    if array.dtype.kind in "biu":
        return ~array
    return -1 - array if array.dtype.kind in "fc" else array[..., ::-1].copy()


WRONG_OUTPUT = Fault(
    name="wrong-output",
    point="fetch",
    says="one run returns values that belong to no task",
    scope=Scope.REQUEST,
    alter=_alter,
)
