"""Outputs that belong to one task alone, and that nobody can change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count
from sys import getrefcount
from typing import cast

import numpy as np

from adapters.base import Array, Arrays

__all__ = ["for_one_caller", "immutable_outputs"]


def immutable_outputs(outputs: Arrays, *, fresh: bool = False) -> dict[str, Array]:
    """A run's outputs, read-only and in memory that nobody else has. For the worker, before its session goes on.

    Arrays are copied unless they own their memory and nobody else holds them: the session's next run might write there.
    A session whose outputs are `fresh` is believed. A variable that holds them counts, too: give what a call returns.
    What is no array, or no mapping, is passed on as it is.
    """
    kind: type = type(outputs)
    if kind is not dict and not _is_mapping(outputs):
        return cast("dict[str, Array]", outputs)
    own = {**outputs}
    del outputs  # so that who still holds the session's dictionary counts as a holder of what is in it
    held = not fresh and _held(own.values(), _ALONE)
    for name, value in own.items():
        if isinstance(value, np.ndarray):  # pyright: ignore[reportUnnecessaryIsInstance] - sessions may be untyped
            array = value if fresh or (value.flags.owndata and not held) else np.array(value, subok=True)
            array.setflags(False)  # noqa: FBT003 - write, by position: a keyword would double what it costs
            own[name] = array.view()  # an owner could make itself writable again; a view of one that is not could not
    return own


def for_one_caller(outputs: dict[str, Array]) -> dict[str, Array]:
    """Immutable outputs for one of several callers that share a run: a dictionary of its own, over the same memory.

    An array of a subclass is copied: what it has beside its memory, as a mask, is not read-only.
    """
    if not _is_mapping(outputs):
        return outputs
    special = {name: value for name, value in outputs.items() if _is_special(value)}
    return outputs | immutable_outputs(special)


def _is_mapping(value: object) -> bool:
    return type(value) is dict or isinstance(value, Mapping)  # in this order: an abstract class is slow to say


def _is_special(value: object) -> bool:
    return isinstance(value, np.ndarray) and type(value) is not np.ndarray  # pyright: ignore[reportUnknownArgumentType] - any element type


def _held(values: Iterable[object], alone: int) -> bool:
    for value in values:  # noqa: SIM110 - a generator would be slow, and hold them too
        if getrefcount(value) > alone:
            return True
    return False


_ALONE = next(number for number in count() if not _held({"": object()}.values(), number))
"""What `_held` counts of a value that nobody holds but the dictionary: the interpreter's business."""
