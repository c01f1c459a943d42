"""What a loaded session says about itself: contract, identity, and which providers got its nodes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from adapters.base import DelegateTruth, Identity, ModelLoadError, Placement, TensorSpec, file_digest

__all__ = ["CPU", "delegate_truth", "runtime_identity", "tensor_spec"]

CPU = "CPUExecutionProvider"
_DTYPES = {
    "float": "float32",
    "double": "float64",
    "float16": "float16",
    "bool": "bool",
    "string": "object",
} | {f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}


def delegate_truth(native: Any, requested: str, init_error: str | None) -> DelegateTruth:
    """Say what took part. `init_error` is the class of the failure that made the CPU stand in."""
    placement = _placement(native)
    took_part = any(part.on == requested and part.nodes for part in placement or ())
    return DelegateTruth(
        requested=requested,
        actual=requested if took_part else CPU,
        graph_nodes=sum(part.nodes for part in placement or ()),
        placement=placement or (),
        evidence="unknown" if placement is None else "graph assignment recorded by the runtime",
        init_error=init_error,
        fallback=not took_part,
    )


def _placement(native: Any) -> tuple[Placement, ...] | None:
    """Count nodes and partitions for each provider. None from a runtime that does not record them."""
    try:
        assigned = native.get_provider_graph_assignment_info()
    except Exception:  # noqa: BLE001 - a runtime before 1.24 has no such method, or refuses
        return None
    nodes: Counter[str] = Counter()
    partitions: Counter[str] = Counter()
    for part in assigned:
        nodes[part.ep_name] += len(part.get_nodes())
        partitions[part.ep_name] += 1
    return tuple(Placement(on=name, nodes=nodes[name], partitions=partitions[name]) for name in sorted(nodes))


def runtime_identity(ort: Any) -> Identity:
    """The runtime with the digests of its native libraries."""
    folder = Path(ort.__file__).parent / "capi"
    patterns = ("libonnxruntime.*", "onnxruntime.dll", "onnxruntime_pybind11_state*")
    libraries = sorted(file for pattern in patterns for file in folder.glob(pattern) if file.is_file())
    return Identity(
        runtime="onnxruntime",
        version=ort.get_version_string(),
        build=ort.get_build_info(),
        artifacts={file.name: file_digest(str(file)) for file in libraries},
    )


def tensor_spec(tensor: Any) -> TensorSpec:
    """Describe a tensor. Raises ModelLoadError for a sequence, a map, or an element type that numpy lacks."""
    dtype = _DTYPES.get(str(tensor.type).removeprefix("tensor(").removesuffix(")"))
    if dtype is None:
        message = f"tensor {tensor.name!r} has a type that numpy cannot hold: {tensor.type}"
        raise ModelLoadError(message)
    shape = tuple(dim if isinstance(dim, int) else None for dim in tensor.shape)
    return TensorSpec(name=tensor.name, dtype=dtype, shape=shape)
