"""Builds the committed built-in models: `python -m harness.models.build [FOLDER]`.

Each is small, exact on every engine (products with 0, 1 and 2, sums that round once), and there in three formats:

    affine       x [1, 8]            y = 2 x + 1
    permutation  x [1, 16]           y = x P, P a permutation matrix
    slow         x [256, 64], n [1]  y = x P^n: n rounds of 10 us and more, so 10 million take minutes
    stateful     x [1, 8]            the kth run of a session differs from its first run on the same x
    constant     x [1, 8]            y = 7 whatever x is: nobody can tell its tasks apart
    rows         x [n, 16]           y = x P + n: a dynamic dimension, which each value of the output tells
    permutation-2  x [1, 16]         y = x Q, Q another permutation: the version that comes after `permutation`

Inputs are finite float32, `n` is int32. Permutation and slow map distinct inputs to distinct outputs; affine and
stateful do so where the inputs differ by more than one rounding step of the output. TFLite's and numpy's stateful model
counts its runs (y = x + k); ONNX has no variables, so its model adds a random sequence with a fixed seed. Builders need
the packages `onnx` (.onnx) and `ai-edge-litert` with `flatbuffers` (.tflite).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from harness.models.build_onnx import ONNX
from harness.models.build_tflite import TFLITE
from harness.models.recipes import (
    NEXT_ORDER,
    ROWS_SHAPE,
    SLOW_ORDER,
    SLOW_SHAPE,
    SMALL_ORDER,
    SMALL_SHAPE,
    VECTOR_SHAPE,
)

__all__ = ["BUILDERS", "build", "main"]


def _numpy(kind: str, shape: tuple[int | None, ...], **fields: object) -> Callable[[], bytes]:
    description = {"format": "racegate-numpy/1", "kind": kind, "shape": list(shape), **fields}
    return (json.dumps(description) + "\n").encode


NUMPY: dict[str, Callable[[], bytes]] = {
    "affine": _numpy("affine", VECTOR_SHAPE, scale=2.0, offset=1.0),
    "permutation": _numpy("permutation", SMALL_SHAPE, order=list(SMALL_ORDER)),
    "slow": _numpy("slow", SLOW_SHAPE, order=list(SLOW_ORDER)),
    "stateful": _numpy("stateful", VECTOR_SHAPE, step=1.0),
    "constant": _numpy("affine", VECTOR_SHAPE, scale=0.0, offset=7.0),
    "rows": _numpy("rows", ROWS_SHAPE, order=list(SMALL_ORDER)),
    "permutation-2": _numpy("permutation", SMALL_SHAPE, order=list(NEXT_ORDER)),
}
BUILDERS: dict[str, dict[str, Callable[[], bytes]]] = {".json": NUMPY, ".onnx": ONNX, ".tflite": TFLITE}


def build(folder: Path) -> list[Path]:
    """Write every model to `folder` and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    for suffix, builders in BUILDERS.items():
        for name, make in builders.items():
            file = folder / f"{name}{suffix}"
            file.write_bytes(make())
            files.append(file)
    return files


def main() -> None:
    """Build into the folder given, or into the one that is committed."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "builtin"
    for file in build(folder):
        sys.stdout.write(f"{file.name} {file.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
