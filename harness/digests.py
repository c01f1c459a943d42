"""Digests by which inputs and outputs are known, in memory only."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, cast

import numpy as np

__all__ = ["PARTS", "array_digest", "inputs_digest", "part_digests"]

PARTS = 16
_SIZE = 12


def array_digest(array: Any) -> str:
    """Digest dtype, shape and values of one array, in hex."""
    return blake2b(_bytes(array), digest_size=_SIZE, person=_person(array)).hexdigest()


def inputs_digest(inputs: Any) -> bytes | None:
    """Digest the inputs of a run; None where they are no mapping of arrays."""
    if not isinstance(inputs, Mapping):
        return None
    arrays = cast("Mapping[str, Any]", inputs)
    hasher = blake2b(digest_size=_SIZE)
    for name in sorted(arrays):
        array: Any = arrays[name]
        if not _is_array(array):
            return None
        hasher.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        hasher.update(_bytes(array))
    return hasher.digest()


def part_digests(array: Any) -> tuple[str, ...]:
    """Digest an array in up to `PARTS` consecutive parts: a torn output has parts of several tasks."""
    flat = np.ascontiguousarray(array).reshape(-1)
    size = max(1, -(-flat.size // PARTS))
    parts = (flat[start : start + size] for start in range(0, max(1, flat.size), size))
    return tuple(blake2b(_bytes(part), digest_size=_SIZE).hexdigest() for part in parts)


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray)


def _bytes(array: Any) -> Any:
    if array.dtype.hasobject:  # text: the bytes are addresses
        return repr(array.tolist()).encode()
    return array.data if array.flags.c_contiguous and array.size else array.tobytes()


def _person(array: Any) -> bytes:
    return f"{array.dtype.str}{array.shape}".encode()[:16]
