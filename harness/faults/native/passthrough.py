"""Puts the fault operator into an ONNX model. `onnx` is imported when that is done."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["with_passthrough"]

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
