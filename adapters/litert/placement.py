"""Which operators of a TFLite graph a delegate took.

The interpreter lists a DELEGATE node for every partition, after the operators that it replaced, and does not say which
those are. They follow from the tensors: a partition holds whoever makes its outputs, whoever makes what they need short
of the partition's inputs, and whoever else uses a tensor that does not leave the partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from adapters.base import DelegateTruth, Placement

__all__ = ["BUILTIN", "delegate_truth"]

BUILTIN = "builtin"
_DELEGATE = "DELEGATE"


def delegate_truth(
    operators: Sequence[Mapping[str, Any]], requested: str, init_error: str | None = None
) -> DelegateTruth:
    """Say what took part, from the interpreter's operators after `allocate_tensors`.

    A delegate that took no node has fallen back, whatever was asked for: the builtin kernels did the work.
    """
    graph = [operator for operator in operators if operator["op_name"] != _DELEGATE]
    partitions = [operator for operator in operators if operator["op_name"] == _DELEGATE]
    taken = {node for partition in partitions for node in _members(partition, graph)}
    placement: list[Placement] = []
    if taken:
        placement.append(Placement(on=requested, nodes=len(taken), partitions=len(partitions)))
    if len(taken) < len(graph):
        runs = sum(1 for delegated, _ in groupby(range(len(graph)), taken.__contains__) if not delegated)
        placement.append(Placement(on=BUILTIN, nodes=len(graph) - len(taken), partitions=runs))
    return DelegateTruth(
        requested=requested,
        actual=requested if taken else BUILTIN,
        graph_nodes=len(graph),
        placement=tuple(placement),
        evidence="operators of the main graph after allocation",
        init_error=init_error,
        fallback=not taken and requested != BUILTIN,
    )


def _members(partition: Mapping[str, Any], graph: Sequence[Mapping[str, Any]]) -> set[int]:
    entering, leaving = _tensors(partition["inputs"]), _tensors(partition["outputs"])
    needed, made = [_tensors(node["inputs"]) for node in graph], [_tensors(node["outputs"]) for node in graph]
    members: set[int] = set()
    wanted, inner = leaving, set[int]()
    while new := {
        index
        for index in range(len(graph))
        if index not in members and (made[index] & wanted or (needed[index] & inner and not made[index] & entering))
    }:
        members |= new
        inner = set[int]().union(*(made[index] for index in members)) - leaving
        wanted = leaving | (set[int]().union(*(needed[index] for index in members)) - entering)
    return members


def _tensors(indices: Iterable[int]) -> set[int]:
    return {int(index) for index in indices if index >= 0}
