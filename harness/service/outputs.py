"""Outputs that belong to one task alone, and that nobody can change."""

from __future__ import annotations

import numpy as np

from adapters.base import Array, Arrays

__all__ = ["immutable_outputs", "own_outputs"]


def own_outputs(outputs: Arrays) -> dict[str, Array]:
    """Each task's outputs staged in memory of their own: an array that is a view of something else is copied.

    A view may be of the session's memory, which the next task overwrites, or of a buffer that is used again. Our
    adapters return owned copies, so that this copies nothing for them.
    """
    return {name: array if _owns(array) else np.array(array) for name, array in outputs.items()}


def immutable_outputs(outputs: Arrays) -> dict[str, Array]:
    """The same, read-only, so that of several callers who share a result none can change it for the others.

    An owner could make its array writable again: what is given out is a view, which numpy then refuses to.
    """
    frozen = own_outputs(outputs)
    for array in frozen.values():
        array.flags.writeable = False
    return {name: array.view() for name, array in frozen.items()}


def _owns(array: Array) -> bool:
    return array.flags.owndata and array.base is None
