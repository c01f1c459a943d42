"""Checks a TFLite model before native code sees it: tflite-runtime crashes on most damaged files.

The structure is checked as FlatBuffers does, then what the interpreter takes on trust: indices of tensors, buffers,
operator codes and subgraphs, the size of constant data, the shape of every tensor. What an operator means is left to
the runtime.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from adapters.base import ModelLoadError
from adapters.litert.flatbuffer import DamagedError, Reader, Scalar, Table, Tables, TableSchema, Text, Union, Vector

__all__ = ["check_model"]

_VERSION = 3
_MOST_ELEMENTS = 1 << 31
_BITS = {
    0: 32,
    1: 16,
    2: 32,
    3: 8,
    4: 64,
    6: 8,
    7: 16,
    8: 64,
    9: 8,
    10: 64,
    11: 128,
    12: 64,
    15: 32,
    16: 16,
    17: 4,
    18: 16,
}
"""Bits an element, by the schema's TensorType: those types whose constants have exactly that size."""

_OPERATOR_CODE: TableSchema = {
    "deprecated_builtin_code": (0, Scalar("b")),
    "custom_code": (1, Text()),
    "version": (2, Scalar("i", 1)),
    "builtin_code": (3, Scalar("i")),
}
_QUANTIZATION: TableSchema = {
    "min": (0, Vector("f")),
    "max": (1, Vector("f")),
    "scale": (2, Vector("f")),
    "zero_point": (3, Vector("q")),
    "details_type": (4, Scalar("B")),
    "details": (5, Union("details_type", {1: {"custom": (0, Vector("B"))}})),
    "quantized_dimension": (6, Scalar("i")),
}
_INDICES = {1: {"values": (0, Vector("i"))}, 2: {"values": (0, Vector("H"))}, 3: {"values": (0, Vector("B"))}}
_DIMENSION: TableSchema = {
    "format": (0, Scalar("b")),
    "dense_size": (1, Scalar("i")),
    "segments_type": (2, Scalar("B")),
    "segments": (3, Union("segments_type", _INDICES)),
    "indices_type": (4, Scalar("B")),
    "indices": (5, Union("indices_type", _INDICES)),
}
_SPARSITY: TableSchema = {
    "traversal_order": (0, Vector("i")),
    "block_map": (1, Vector("i")),
    "dim_metadata": (2, Tables(_DIMENSION)),
}
_TENSOR: TableSchema = {
    "shape": (0, Vector("i")),
    "type": (1, Scalar("b")),
    "buffer": (2, Scalar("I")),
    "name": (3, Text()),
    "quantization": (4, Table(_QUANTIZATION)),
    "is_variable": (5, Scalar("?")),
    "sparsity": (6, Table(_SPARSITY)),
    "shape_signature": (7, Vector("i")),
    "variant_tensors": (9, Tables({"shape": (0, Vector("i"))})),
    "external_buffer": (10, Scalar("I")),
}
_OPTIONS: dict[int, TableSchema] = {  # the members of BuiltinOptions that hold references
    3: {"columns": (1, Vector("i")), "dimensions": (2, Vector("i"))},
    17: {"new_shape": (0, Vector("i"))},
    30: {"squeeze_dims": (0, Vector("i"))},
    111: {"container": (0, Text()), "shared_name": (1, Text())},
    115: {"boundaries": (0, Vector("f"))},
}
_OPERATOR: TableSchema = {
    "opcode_index": (0, Scalar("I")),
    "inputs": (1, Vector("i")),
    "outputs": (2, Vector("i")),
    "options_type": (3, Scalar("B")),
    "options": (4, Union("options_type", _OPTIONS)),
    "custom_options": (5, Vector("B")),
    "mutating_variable_inputs": (7, Vector("?")),
    "intermediates": (8, Vector("i")),
    "large_custom_options_offset": (9, Scalar("Q")),
    "large_custom_options_size": (10, Scalar("Q")),
    "options_2_type": (11, Scalar("B")),
    "options_2": (12, Union("options_2_type", {})),
}
_SUBGRAPH: TableSchema = {
    "tensors": (0, Tables(_TENSOR)),
    "inputs": (1, Vector("i")),
    "outputs": (2, Vector("i")),
    "operators": (3, Tables(_OPERATOR)),
    "name": (4, Text()),
}
_BUFFER: TableSchema = {"data": (0, Vector("B")), "offset": (1, Scalar("Q")), "size": (2, Scalar("Q"))}
_TENSOR_MAPS = Tables({"name": (0, Text()), "tensor_index": (1, Scalar("I"))})
_SIGNATURE: TableSchema = {
    "inputs": (0, _TENSOR_MAPS),
    "outputs": (1, _TENSOR_MAPS),
    "signature_key": (2, Text()),
    "subgraph_index": (4, Scalar("I")),
}
_MODEL: TableSchema = {
    "version": (0, Scalar("I")),
    "operator_codes": (1, Tables(_OPERATOR_CODE)),
    "subgraphs": (2, Tables(_SUBGRAPH)),
    "description": (3, Text()),
    "buffers": (4, Tables(_BUFFER)),
    "metadata_buffer": (5, Vector("i")),
    "metadata": (6, Tables({"name": (0, Text()), "buffer": (1, Scalar("I"))})),
    "signature_defs": (7, Tables(_SIGNATURE)),
}


def check_model(data: bytes) -> None:
    """Raise ModelLoadError for bytes that are no intact TFLite model."""
    try:
        _check(Reader(data).root(_MODEL, b"TFL3"), len(data))
    except DamagedError as damage:
        problem = str(damage)
    else:
        return
    message = f"not an intact TFLite model: {problem}"
    raise ModelLoadError(message)


def _check(model: dict[str, Any], file_size: int) -> None:
    _require(model["version"] == _VERSION, f"schema version {model['version']}, not {_VERSION}")
    _require(bool(model["subgraphs"]), "no subgraph")
    sizes = [_buffer_size(buffer, file_size) for buffer in model["buffers"] or ()]
    codes = len(model["operator_codes"] or ())
    for subgraph in model["subgraphs"]:
        _check_subgraph(subgraph, sizes, codes)
    for entry in model["metadata"] or ():
        _require(entry["buffer"] < len(sizes), "metadata names a buffer that is not there")
    for signature in model["signature_defs"] or ():
        _check_signature(signature, model["subgraphs"])


def _buffer_size(buffer: dict[str, Any], file_size: int) -> int:
    """The bytes of constant data, inline or, in files over 2 GB, behind the tables."""
    _require(buffer["offset"] + buffer["size"] <= file_size, "a buffer lies outside the file")
    return buffer["data"] or (buffer["size"] if buffer["offset"] > 1 else 0)


def _check_subgraph(subgraph: dict[str, Any], sizes: list[int], codes: int) -> None:
    tensors, operators = subgraph["tensors"] or (), subgraph["operators"] or ()
    for tensor in tensors:
        _check_tensor(tensor, sizes)
    _check_indices(subgraph["inputs"], len(tensors))
    _check_indices(subgraph["outputs"], len(tensors))
    for operator in operators:
        _require(operator["opcode_index"] < codes, "an operator names a code that is not there")
        for field in ("inputs", "outputs", "intermediates"):
            _check_indices(operator[field], len(tensors))
    _check_flow(subgraph, sizes)


def _check_flow(subgraph: dict[str, Any], sizes: list[int]) -> None:
    """Every tensor is made once, and before it is used: kernels read whatever memory an unmade one has."""
    tensors = _items(subgraph["tensors"])
    made = {index for index, tensor in enumerate(tensors) if _is_given(tensor, sizes)}
    made |= {-1, *_items(subgraph["inputs"])}
    results: set[int] = set()
    for operator in _items(subgraph["operators"]):
        _require(made.issuperset(_items(operator["inputs"])), "an operator uses a tensor before it is made")
        outputs = [index for index in _items(operator["outputs"]) if index >= 0]
        _require(len(set(outputs)) == len(outputs) and results.isdisjoint(outputs), "a tensor is made twice")
        results.update(outputs)
        made.update(outputs)
    _require(made.issuperset(_items(subgraph["outputs"])), "an output of a graph is never made")


def _is_given(tensor: dict[str, Any], sizes: list[int]) -> bool:
    if tensor["is_variable"] or tensor["external_buffer"]:
        return True
    return 0 in _items(tensor["shape"]) or bool(sizes and sizes[int(tensor["buffer"])])


def _check_tensor(tensor: dict[str, Any], sizes: list[int]) -> None:
    shape: tuple[int, ...] = tensor["shape"] or ()
    elements = math.prod(shape)
    _require(all(dim >= 0 for dim in shape) and elements < _MOST_ELEMENTS, "a tensor's shape is impossible")
    signature: tuple[int, ...] = tensor["shape_signature"] or ()
    _require(not signature or len(signature) == len(shape), "a tensor's shape signature has another rank")
    _require(all(dim >= -1 for dim in signature), "a tensor's shape signature is impossible")
    _require(tensor["buffer"] < max(len(sizes), 1), "a tensor names a buffer that is not there")
    _check_quantization(tensor["quantization"], len(shape))
    size = sizes[int(tensor["buffer"])] if sizes else 0
    bits = _BITS.get(int(tensor["type"]))
    if size and bits and not tensor["sparsity"]:
        _require(size == (elements * bits + 7) // 8, "a constant's data does not fit its shape")


def _check_quantization(quantization: dict[str, Any] | None, rank: int) -> None:
    if not quantization or not quantization["scale"]:
        return
    zero_points: tuple[int, ...] = quantization["zero_point"] or ()
    scale: tuple[float, ...] = quantization["scale"]
    scales, zeros = len(scale), len(zero_points)
    _require(zeros in {0, 1, scales}, "a tensor has other numbers of scales and zero points")
    _require(scales == 1 or 0 <= quantization["quantized_dimension"] < rank, "a quantized dimension is not there")


def _check_signature(signature: dict[str, Any], subgraphs: list[dict[str, Any]]) -> None:
    _require(signature["subgraph_index"] < len(subgraphs), "a signature names a subgraph that is not there")
    tensors = len(_items(subgraphs[signature["subgraph_index"]]["tensors"]))
    for entry in (*(signature["inputs"] or ()), *(signature["outputs"] or ())):
        _require(entry["tensor_index"] < tensors, "a signature names a tensor that is not there")


def _items(value: Any) -> Sequence[Any]:
    return () if value is None else value


def _check_indices(indices: Iterable[int] | None, count: int) -> None:
    # -1 stands for an optional tensor that is left out.
    _require(
        all(-1 <= index < count for index in indices or ()), "an operator or graph names a tensor that is not there"
    )


def _require(holds: bool, problem: str) -> None:  # noqa: FBT001 - reads as an assertion
    if not holds:
        raise DamagedError(problem)
