"""The built-in models in ONNX. `onnx` is imported when a model is built."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from harness.models.recipes import (
    NEXT_ORDER,
    ROWS_SHAPE,
    SLOW_ORDER,
    SLOW_SHAPE,
    SMALL_ORDER,
    SMALL_SHAPE,
    VECTOR_SHAPE,
    permutation_matrix,
)

__all__ = ["ONNX"]

_IR_VERSION = 8
_OPSET = 17
_SEED = 7.0


def _onnx() -> Any:
    return importlib.import_module("onnx")


def _helper() -> Any:
    return importlib.import_module("onnx.helper")


def _node(kind: str, inputs: list[str], outputs: list[str], **fields: object) -> Any:
    return _helper().make_node(kind, inputs, outputs, **fields)


def _affine() -> bytes:
    return _scale_and_shift(2.0, 1.0)


def _constant() -> bytes:
    return _scale_and_shift(0.0, 7.0)


def _scale_and_shift(scale: float, offset: float) -> bytes:
    nodes = [_node("Mul", ["x", "scale"], ["scaled"]), _node("Add", ["scaled", "offset"], ["y"])]
    return _model(nodes, VECTOR_SHAPE, {"scale": np.float32(scale), "offset": np.float32(offset)})


def _permutation() -> bytes:
    return _times_matrix(SMALL_ORDER)


def _permutation_2() -> bytes:
    return _times_matrix(NEXT_ORDER)


def _times_matrix(order: tuple[int, ...]) -> bytes:
    nodes = [_node("MatMul", ["x", "order"], ["y"])]
    return _model(nodes, SMALL_SHAPE, {"order": permutation_matrix(order)})


def _rows() -> bytes:
    nodes = [
        _node("Shape", ["x"], ["sizes"]),
        _node("Gather", ["sizes", "first"], ["n64"]),
        _node("Cast", ["n64"], ["n"], to=_onnx().TensorProto.FLOAT),
        _node("MatMul", ["x", "order"], ["permuted"]),
        _node("Add", ["permuted", "n"], ["y"]),
    ]
    return _model(nodes, ROWS_SHAPE, {"first": np.int64(0), "order": permutation_matrix(SMALL_ORDER)})


def _stateful() -> bytes:
    # A seeded generator node keeps its state in the session: the sequence goes on from run to run and begins anew with
    # every session. It is the only hidden state that ONNX itself can express.
    nodes = [
        _node("RandomUniform", [], ["noise"], shape=list(VECTOR_SHAPE), seed=_SEED),
        _node("Add", ["x", "noise"], ["y"]),
    ]
    return _model(nodes, VECTOR_SHAPE, {})


def _slow() -> bytes:
    types = _onnx().TensorProto

    def info(name: str, kind: int, shape: tuple[int, ...]) -> Any:
        return _helper().make_tensor_value_info(name, kind, shape)

    body = _helper().make_graph(
        [_node("Identity", ["go"], ["go_on"]), _node("MatMul", ["now", "order"], ["next"])],
        "round",
        [
            info("i", types.INT64, ()),
            info("go", types.BOOL, ()),
            info("now", types.FLOAT, SLOW_SHAPE),
        ],
        [info("go_on", types.BOOL, ()), info("next", types.FLOAT, SLOW_SHAPE)],
    )
    nodes = [
        _node("Cast", ["n"], ["n64"], to=types.INT64),
        _node("Squeeze", ["n64"], ["rounds"]),
        _node("Loop", ["rounds", "", "x"], ["y"], body=body),
    ]
    return _model(nodes, SLOW_SHAPE, {"order": permutation_matrix(SLOW_ORDER)}, counted=True)


def _model(
    nodes: list[Any], shape: tuple[int | None, ...], constants: dict[str, Any], *, counted: bool = False
) -> bytes:
    types, helper = _onnx().TensorProto, _helper()
    inputs = [helper.make_tensor_value_info("x", types.FLOAT, shape)]
    if counted:
        inputs.append(helper.make_tensor_value_info("n", types.INT32, (1,)))
    outputs = [helper.make_tensor_value_info("y", types.FLOAT, shape)]
    initializers = [_onnx().numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "racegate", inputs, outputs, initializers)
    opset = helper.make_opsetid("", _OPSET)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=_IR_VERSION, producer_name="racegate")
    return model.SerializeToString(deterministic=True)


ONNX: dict[str, Callable[[], bytes]] = {
    "affine": _affine,
    "permutation": _permutation,
    "slow": _slow,
    "stateful": _stateful,
    "constant": _constant,
    "rows": _rows,
    "permutation-2": _permutation_2,
}
