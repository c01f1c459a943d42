"""One run gives values that are no numbers."""

from typing import Any

import numpy as np

from harness.faults.fault import Fault, Hit, Outputs, Scope

__all__ = ["NAN_OUTPUT"]


def _alter(hit: Hit, outputs: Outputs) -> Outputs:
    del hit
    return {name: _nan(np.asarray(array)) for name, array in outputs.items()}


def _nan(array: Any) -> Any:
    """NaN where the type has it, else its least value, which is what a cast makes of NaN."""
    kind = array.dtype.kind
    if kind in "iu":
        return np.full_like(array, np.iinfo(array.dtype).min)
    return np.full_like(array, np.nan) if kind in "fc" else array


NAN_OUTPUT = Fault(
    name="nan-output",
    point="fetch",
    says="one run returns NaN",
    scope=Scope.REQUEST,
    alter=_alter,
)
