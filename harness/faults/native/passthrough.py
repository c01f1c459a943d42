"""Puts the fault operator into an ONNX model. `onnx` is imported when that is done."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["float_tensors", "with_passthrough"]

_DOMAIN = "racegate.faults"


def with_passthrough(model: bytes, tensor: str) -> bytes:
    """Return the model with `Passthrough` on one float tensor of its main graph: whoever uses it gets it through that.

    Until a fault strikes, the model computes what it computed before. Raises ValueError where the graph has no such
    tensor, or nobody uses it.
    """
    onnx: Any = importlib.import_module("onnx")
    made = onnx.load_model_from_string(model)
    graph, through = made.graph, f"{tensor}/through"
    users = [node for node in graph.node if tensor in node.input]
    position = _position_after_maker(graph, tensor)
    if any(output.name == tensor for output in graph.output):
        # The outputs keep their names: the maker writes to another tensor.
        _rename(graph.node[position - 1].output, tensor, through)
        ends = through, tensor
    else:
        for node in users:
            _rename(node.input, tensor, through)
        ends = tensor, through
        if not users:
            message = f"nobody uses the tensor {tensor!r}"
            raise ValueError(message)
    graph.node.insert(position, onnx.helper.make_node("Passthrough", [ends[0]], [ends[1]], domain=_DOMAIN))
    made.opset_import.append(onnx.helper.make_opsetid(_DOMAIN, 1))
    return bytes(made.SerializeToString(deterministic=True))


def float_tensors(model: bytes) -> tuple[str, ...]:
    """The tensors that `with_passthrough` can take: what nodes hand to each other, the middle one first, then the rest.

    What goes in stands before what comes out: there the runtime has something left to do when the operator is over.
    """
    onnx: Any = importlib.import_module("onnx")
    graph = onnx.shape_inference.infer_shapes(onnx.load_model_from_string(model)).graph
    known = {each.name: each.type.tensor_type.elem_type for each in (*graph.value_info, *graph.input, *graph.output)}
    floats = {name for name, kind in known.items() if kind == onnx.TensorProto.FLOAT}
    floats -= {each.name for each in graph.initializer}
    used = {name for node in graph.node for name in node.input}
    ends = {each.name for each in graph.output}
    made = [name for node in graph.node for name in node.output if name in floats]
    between = [name for name in made if name in used and name not in ends]
    middle = len(between) // 2
    given = [each.name for each in graph.input if each.name in floats and each.name in used]
    return (*between[middle:], *between[:middle], *given, *(name for name in made if name in ends))


def _position_after_maker(graph: Any, tensor: str) -> int:
    for index, node in enumerate(graph.node):
        if tensor in node.output:
            return index + 1
    if any(given.name == tensor for given in graph.input):
        return 0
    message = f"the main graph has no tensor {tensor!r}"
    raise ValueError(message)


def _rename(names: Any, old: str, new: str) -> None:
    for index, name in enumerate(names):
        if name == old:
            names[index] = new
