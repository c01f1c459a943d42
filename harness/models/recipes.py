"""The shapes and permutations that the built-in models have in common, in every format."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "NEXT_ORDER",
    "ROWS_SHAPE",
    "SLOW_ORDER",
    "SLOW_SHAPE",
    "SMALL_ORDER",
    "SMALL_SHAPE",
    "VECTOR_SHAPE",
    "permutation_matrix",
]

VECTOR_SHAPE = (1, 8)
SMALL_SHAPE = (1, 16)
ROWS_SHAPE = (None, 16)
"""Dynamic in its first dimension."""
SLOW_SHAPE = (256, 64)
# j -> a j + b modulo the size is a permutation where a has no factor in common with the size.
SMALL_ORDER = tuple((5 * j + 3) % 16 for j in range(16))
NEXT_ORDER = tuple((3 * j + 6) % 16 for j in range(16))
SLOW_ORDER = tuple((29 * j + 7) % 64 for j in range(64))


def permutation_matrix(order: tuple[int, ...]) -> NDArray[np.float32]:
    """The matrix P with (x P)[j] = x[order[j]]."""
    matrix = np.zeros((len(order), len(order)), np.float32)
    matrix[list(order), range(len(order))] = 1.0
    return matrix
