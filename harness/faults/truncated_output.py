"""One run gives the first part of its outputs alone."""

from typing import Any

import numpy as np

from harness.faults.fault import Fault, Hit, Outputs, Scope

__all__ = ["TRUNCATED_OUTPUT"]


def _alter(hit: Hit, outputs: Outputs) -> Outputs:
    del hit
    return {name: _first_half(np.asarray(array)) for name, array in outputs.items()}


def _first_half(array: Any) -> Any:
    return array.reshape(-1)[: array.size // 2].copy()


TRUNCATED_OUTPUT = Fault(
    name="truncated-output",
    point="fetch",
    says="one run returns the first half of its outputs",
    scope=Scope.REQUEST,
    alter=_alter,
)
