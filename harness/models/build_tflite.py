"""The built-in models in TFLite. The schema is imported from `ai_edge_litert` when a model is built."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

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

__all__ = ["TFLITE"]

_SCHEMA_VERSION = 3


class _Builder:
    """Collects tensors, operators and subgraphs, then packs them. Operator names are the schema's, as in `ADD`."""

    def __init__(self) -> None:
        self.schema: Any = importlib.import_module("ai_edge_litert.schema_py_generated")
        self._buffers: list[Any] = [self.schema.BufferT()]  # buffer 0 is empty: tensors without data point to it
        self._codes: list[str] = []
        self._subgraphs: list[Any] = []
        self.begin("main")

    def begin(self, name: str) -> int:
        """Start the next subgraph and return its index."""
        graph = self.schema.SubGraphT()
        graph.name, graph.tensors, graph.operators = name, [], []
        self._subgraphs.append(graph)
        return len(self._subgraphs) - 1

    def tensor(self, name: str, shape: Sequence[int | None], dtype: str = "FLOAT32") -> int:
        """Add a tensor to the current subgraph and return its index; a dimension of None is dynamic."""
        tensor = self.schema.TensorT()
        tensor.name, tensor.shape, tensor.buffer = name, [size or 1 for size in shape], 0
        if None in shape:
            tensor.shapeSignature = [size or -1 for size in shape]
        tensor.type = getattr(self.schema.TensorType, dtype)
        tensors = self._subgraphs[-1].tensors
        tensors.append(tensor)
        return len(tensors) - 1

    def constant(self, name: str, value: NDArray[Any], dtype: str = "FLOAT32") -> int:
        """Add a tensor with data."""
        buffer = self.schema.BufferT()
        buffer.data = np.array(list(value.tobytes()), np.uint8)
        self._buffers.append(buffer)
        index = self.tensor(name, value.shape, dtype)
        self._subgraphs[-1].tensors[index].buffer = len(self._buffers) - 1
        return index

    def op(self, code: str, inputs: Sequence[int], outputs: Sequence[int], options: str = "", **fields: object) -> None:
        """Add an operator; `options` is the schema's name of its options table."""
        operator = self.schema.OperatorT()
        if code not in self._codes:
            self._codes.append(code)
        operator.opcodeIndex = self._codes.index(code)
        operator.inputs, operator.outputs = list(inputs), list(outputs)
        if options:
            operator.builtinOptionsType = getattr(self.schema.BuiltinOptions, options)
            operator.builtinOptions = getattr(self.schema, f"{options}T")()
            for name, value in fields.items():
                setattr(operator.builtinOptions, name, value)
        self._subgraphs[-1].operators.append(operator)

    def ends(self, inputs: Sequence[int], outputs: Sequence[int], graph: int = -1) -> None:
        """Set the inputs and outputs of a subgraph, the current one by default."""
        self._subgraphs[graph].inputs, self._subgraphs[graph].outputs = list(inputs), list(outputs)

    def pack(self) -> bytes:
        """Write the model."""
        model = self.schema.ModelT()
        model.version, model.description = _SCHEMA_VERSION, "racegate"
        model.buffers, model.subgraphs = self._buffers, self._subgraphs
        model.operatorCodes = [self._code(name) for name in self._codes]
        builder = importlib.import_module("flatbuffers").Builder(1024)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())

    def _code(self, name: str) -> Any:
        code = self.schema.OperatorCodeT()
        code.builtinCode = getattr(self.schema.BuiltinOperator, name)
        code.deprecatedBuiltinCode = min(code.builtinCode, 127)  # what readers older than schema 3a look at
        code.version = 1
        return code


def _affine() -> bytes:
    return _scale_and_shift(2.0, 1.0)


def _constant() -> bytes:
    return _scale_and_shift(0.0, 7.0)


def _scale_and_shift(scale: float, offset: float) -> bytes:
    b = _Builder()
    x, scaled, y = (b.tensor(name, VECTOR_SHAPE) for name in ("x", "scaled", "y"))
    b.op("MUL", [x, b.constant("scale", np.array([scale], np.float32))], [scaled], "MulOptions")
    b.op("ADD", [scaled, b.constant("offset", np.array([offset], np.float32))], [y], "AddOptions")
    b.ends([x], [y])
    return b.pack()


def _permutation() -> bytes:
    return _permuted(SMALL_ORDER)


def _permutation_2() -> bytes:
    return _permuted(NEXT_ORDER)


def _permuted(order: tuple[int, ...]) -> bytes:
    b = _Builder()
    x, y = b.tensor("x", SMALL_SHAPE), b.tensor("y", SMALL_SHAPE)
    _times_matrix(b, x, y, order)
    b.ends([x], [y])
    return b.pack()


def _rows() -> bytes:
    b = _Builder()
    x, permuted, y = (b.tensor(name, ROWS_SHAPE) for name in ("x", "permuted", "y"))
    sizes, first, n = b.tensor("sizes", [2], "INT32"), b.tensor("first", [1], "INT32"), b.tensor("n", [1])
    begin, size = (b.constant(str(each), np.array([each], np.int32), "INT32") for each in (0, 1))
    b.op("SHAPE", [x], [sizes], "ShapeOptions", outType=b.schema.TensorType.INT32)
    b.op("SLICE", [sizes, begin, size], [first], "SliceOptions")
    b.op("CAST", [first], [n], "CastOptions")
    _times_matrix(b, x, permuted, SMALL_ORDER)
    b.op("ADD", [permuted, n], [y], "AddOptions")
    b.ends([x], [y])
    return b.pack()


def _times_matrix(b: _Builder, x: int, y: int, order: tuple[int, ...]) -> None:
    # FULLY_CONNECTED multiplies by the transpose of its weights.
    weights = b.constant("order", np.ascontiguousarray(permutation_matrix(order).T))
    b.op("FULLY_CONNECTED", [x, weights, -1], [y], "FullyConnectedOptions")


def _stateful() -> bytes:
    b = _Builder()
    x, y, state, old, new = (
        b.tensor("x", VECTOR_SHAPE),
        b.tensor("y", VECTOR_SHAPE),
        b.tensor("state", [1], "RESOURCE"),
        b.tensor("old", [1]),
        b.tensor("new", [1]),
    )
    variable: dict[str, object] = {"container": "racegate", "sharedName": "runs"}
    b.op("CALL_ONCE", [], [], "CallOnceOptions", initSubgraphIndex=1)
    b.op("VAR_HANDLE", [], [state], "VarHandleOptions", **variable)
    b.op("READ_VARIABLE", [state], [old], "ReadVariableOptions")
    b.op("ADD", [old, b.constant("step", np.array([1.0], np.float32))], [new], "AddOptions")
    b.op("ASSIGN_VARIABLE", [state, new], [], "AssignVariableOptions")
    b.op("ADD", [x, new], [y], "AddOptions")
    b.ends([x], [y])
    b.begin("init")
    state = b.tensor("state", [1], "RESOURCE")
    b.op("VAR_HANDLE", [], [state], "VarHandleOptions", **variable)
    b.op("ASSIGN_VARIABLE", [state, b.constant("zero", np.array([0.0], np.float32))], [], "AssignVariableOptions")
    b.ends([], [])
    return b.pack()


def _slow() -> bytes:
    b = _Builder()
    x, n, i, last, done, y = (
        b.tensor("x", SLOW_SHAPE),
        b.tensor("n", [1], "INT32"),
        b.constant("zero", np.array([0], np.int32), "INT32"),
        b.tensor("last", [1], "INT32"),
        b.tensor("done", SLOW_SHAPE),
        b.tensor("y", SLOW_SHAPE),
    )
    unused = b.tensor("rounds", [1], "INT32")
    b.op("WHILE", [i, n, x], [last, unused, done], "WhileOptions", condSubgraphIndex=1, bodySubgraphIndex=2)
    # WHILE is never delegated. One more node keeps the main graph from having nothing that a delegate could take.
    b.op("MUL", [done, b.constant("one", np.array([1.0], np.float32))], [y], "MulOptions")
    b.ends([x, n], [y])
    _slow_condition(b)
    _slow_body(b)
    return b.pack()


def _slow_state(b: _Builder) -> tuple[int, int, int]:
    return b.tensor("i", [1], "INT32"), b.tensor("n", [1], "INT32"), b.tensor("now", SLOW_SHAPE)


def _slow_condition(b: _Builder) -> None:
    b.begin("condition")
    i, n, now = _slow_state(b)
    go = b.tensor("go", [1], "BOOL")
    b.op("LESS", [i, n], [go], "LessOptions")
    b.ends([i, n, now], [go])


def _slow_body(b: _Builder) -> None:
    b.begin("body")
    i, n, now = _slow_state(b)
    following, after = b.tensor("following", [1], "INT32"), b.tensor("after", SLOW_SHAPE)
    b.op("ADD", [i, b.constant("one", np.array([1], np.int32), "INT32")], [following], "AddOptions")
    _times_matrix(b, now, after, SLOW_ORDER)
    b.ends([i, n, now], [following, n, after])


TFLITE: dict[str, Callable[[], bytes]] = {
    "affine": _affine,
    "permutation": _permutation,
    "slow": _slow,
    "stateful": _stateful,
    "constant": _constant,
    "rows": _rows,
    "permutation-2": _permutation_2,
}
