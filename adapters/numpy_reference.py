"""The reference adapter: tiny models in plain numpy, with the same shared mutable buffers as a TFLite interpreter.

A model is a JSON object `{"format": "racegate-numpy/1", "kind": KIND, "shape": [1, 16], ...}`:

    affine       `scale`, `offset`     y = x * scale + offset
    permutation  `order`               y[..., j] = x[..., order[j]]
    slow         `order`               the permutation `n` times over, `n` an int32 input of shape [1]
    stateful     `step`                y = x + step * k in the kth run of the session

It proves nothing about a runtime. It is there because it is exact, always installed and fast.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np

from adapters.base import (
    Adapter,
    Array,
    Arrays,
    Availability,
    Contract,
    Counters,
    DelegateInitError,
    DelegateTruth,
    Grain,
    Identity,
    ModelFile,
    ModelLoadError,
    Options,
    Placement,
    RunInterruptedError,
    Session,
    SessionClosedError,
    Sharing,
    StagedCall,
    TensorSpec,
    check_inputs,
    file_digest,
)
from adapters.options import OptionReader

__all__ = ["FORMAT", "NumpyAdapter"]

FORMAT = "racegate-numpy/1"
_DELEGATE = "reference"
_MOST_ELEMENTS = 1 << 20

Kernel: TypeAlias = Callable[[], None]
Description: TypeAlias = dict[str, Any]


class _Buffers:
    """The session's own memory: what `bind` writes, the kernel reads and writes, and `fetch` reads."""

    __slots__ = ("interrupted", "n", "x", "y")

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.x: Array = np.zeros(shape, np.float32)
        self.n: Array = np.zeros((1,), np.int32)
        self.y: Array = np.zeros(shape, np.float32)
        self.interrupted = False


class NumpyAdapter(Adapter):
    """The reference. Its one delegate is `reference`; any other fails to start, as an absent one does elsewhere."""

    name: ClassVar[str] = "numpy"
    suffixes: ClassVar[tuple[str, ...]] = (".json",)
    default_delegate: ClassVar[str] = _DELEGATE
    cpu_delegate: ClassVar[str] = _DELEGATE

    def probe(self) -> Availability:
        """Numpy is always here."""
        return Availability(importable=True, version=np.__version__, build="reference", delegates=(_DELEGATE,))

    def open(self, model: ModelFile, delegate: str, options: Options) -> Session:
        """Open a session. Its only option is `fallback`."""
        reader = OptionReader(options)
        fallback = reader.flag("fallback")
        reader.finish()
        if delegate != _DELEGATE and not fallback:
            message = f"the numpy adapter has no delegate {delegate!r}, only {_DELEGATE!r}"
            raise DelegateInitError(message)
        return NumpySession(_parse(model), delegate)


class NumpySession(Session):
    """One model with its buffers. Two threads that share it overwrite each other's input between bind and invoke."""

    sharing = Sharing.EXCLUSIVE
    interrupt_grain = Grain.NODE

    def __init__(self, description: Description, delegate: str) -> None:
        shape: tuple[int, ...] = description["shape"]
        kind: str = description["kind"]
        self._buffers = _Buffers(shape)
        self._kernel = _KERNELS[kind](description, self._buffers)
        inputs = {"x": self._buffers.x} | ({"n": self._buffers.n} if kind == "slow" else {})
        self.contract = Contract(
            inputs=tuple(_spec(name, array) for name, array in inputs.items()),
            outputs=(_spec("y", self._buffers.y),),
        )
        self._inputs = tuple((name, array, array.dtype, array.shape) for name, array in inputs.items())
        self.identity = Identity(runtime="numpy", version=np.__version__, build="reference", artifacts=_artifacts())
        self.delegate = _truth(delegate)
        self._last_error: str | None = None
        self._closed = False

    def call(self, inputs: Arrays) -> StagedCall:
        """Start a call. It writes to the session's buffers, as every exclusive runtime does."""
        return StagedCall(self, inputs)

    def bind(self, inputs: Arrays) -> None:
        """Check the inputs and copy them into the session's buffers."""
        if self._closed:
            raise _closed()
        matches = len(inputs) == len(self._inputs)
        for name, _, dtype, shape in self._inputs:
            array = inputs.get(name)
            # Exact type first: this path is taken a thousand times a second, check_inputs only to name what is wrong.
            if type(array) is not np.ndarray or array.dtype != dtype or array.shape != shape:
                matches = False
        if not matches:
            check_inputs(self.contract, inputs)
        self._buffers.interrupted = False
        for name, buffer, _, _ in self._inputs:
            buffer[...] = inputs[name]

    def invoke(self) -> None:
        """Run the kernel on what the buffers hold now."""
        if self._closed:
            raise _closed()
        if self._buffers.interrupted:
            raise self._interrupted()
        self._kernel()
        if self._buffers.interrupted:
            raise self._interrupted()

    def fetch(self) -> dict[str, Array]:
        """Copy what the output buffer holds now."""
        if self._closed:
            raise _closed()
        return {"y": self._buffers.y.copy()}

    def interrupt(self) -> None:
        """Make the call in flight end before its next round."""
        self._buffers.interrupted = True

    def counters(self) -> Counters:
        """One context and its buffers, until `close`."""
        live = 0 if self._closed else 1
        return Counters(
            live_contexts=live,
            registered_buffers=live * (len(self._inputs) + 1),
            live_delegates=live,
            last_error=self._last_error,
        )

    def close(self) -> None:
        """Mark the session closed."""
        self._closed = True

    def _interrupted(self) -> RunInterruptedError:
        self._last_error = RunInterruptedError.__name__
        return RunInterruptedError("the run was interrupted")


def _closed() -> SessionClosedError:
    return SessionClosedError("the session is closed")


def _spec(name: str, array: Array) -> TensorSpec:
    return TensorSpec(name=name, dtype=array.dtype.name, shape=array.shape)


def _truth(requested: str) -> DelegateTruth:
    fell_back = requested != _DELEGATE
    return DelegateTruth(
        requested=requested,
        actual=_DELEGATE,
        graph_nodes=1,
        placement=(Placement(on=_DELEGATE, nodes=1, partitions=1),),
        evidence="numpy has one executor",
        init_error=DelegateInitError.__name__ if fell_back else None,
        fallback=fell_back,
    )


def _artifacts() -> dict[str, str]:
    core = sys.modules.get("numpy._core._multiarray_umath") or sys.modules.get("numpy.core._multiarray_umath")
    path = getattr(core, "__file__", None)
    return {path.replace("\\", "/").rsplit("/", 1)[-1]: file_digest(path)} if path else {}


def _affine(description: Description, buffers: _Buffers) -> Kernel:
    scale, offset = np.float32(description["scale"]), np.float32(description["offset"])

    def kernel() -> None:
        np.multiply(buffers.x, scale, out=buffers.y)
        np.add(buffers.y, offset, out=buffers.y)

    return kernel


def _permutation(description: Description, buffers: _Buffers) -> Kernel:
    take, x, y = buffers.x.take, buffers.x, buffers.y
    order, axis = np.array(description["order"], np.intp), x.ndim - 1

    def kernel() -> None:
        take(order, axis, y, "clip")

    return kernel


def _slow(description: Description, buffers: _Buffers) -> Kernel:
    order = np.array(description["order"], np.intp)

    def kernel() -> None:
        now = buffers.x.copy()
        for _ in range(int(buffers.n[0])):
            if buffers.interrupted:
                return
            now = now.take(order, -1)
        buffers.y[...] = now

    return kernel


def _stateful(description: Description, buffers: _Buffers) -> Kernel:
    step = np.float32(description["step"])
    state = np.zeros((), np.float32)

    def kernel() -> None:
        np.add(state, step, out=state)
        np.add(buffers.x, state, out=buffers.y)

    return kernel


_KERNELS = {"affine": _affine, "permutation": _permutation, "slow": _slow, "stateful": _stateful}
_NUMBERS = {"affine": ("scale", "offset"), "permutation": (), "slow": (), "stateful": ("step",)}


def _parse(model: ModelFile) -> Description:
    """Read and check a description, so that a kernel never meets a bad one. Raises ModelLoadError."""
    try:
        loaded: object = json.loads(model.data)
    except (ValueError, RecursionError):
        loaded = None
    if not isinstance(loaded, dict):
        message = "not a numpy model: it is no JSON object"
        raise ModelLoadError(message)
    description = cast("Description", loaded)
    if problem := _problem(description):
        message = f"not a numpy model: {problem}"
        raise ModelLoadError(message)
    return description | {"shape": tuple(description["shape"])}


def _problem(description: Description) -> str:
    kind, shape = description.get("kind"), description.get("shape")
    if description.get("format") != FORMAT:
        return f"its format is not {FORMAT!r}"
    if not isinstance(kind, str) or kind not in _KERNELS:
        return f"its kind is none of {', '.join(_KERNELS)}"
    if not _is_shape(shape):
        return "its shape is no list of one to eight small positive integers"
    if not all(_is_number(description.get(name)) for name in _NUMBERS[kind]):
        return f"a {kind} model needs the numbers {', '.join(_NUMBERS[kind])}"
    if kind in {"permutation", "slow"} and not _is_order(description.get("order"), cast("list[int]", shape)[-1]):
        return "its order is no permutation of the last dimension"
    return ""


def _is_shape(value: object) -> bool:
    if not isinstance(value, list) or not 1 <= len(dims := cast("list[object]", value)) <= 8:  # noqa: PLR2004 - as the message says
        return False
    return all(type(dim) is int and dim > 0 for dim in dims) and math.prod(cast("list[int]", dims)) <= _MOST_ELEMENTS


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_order(value: object, size: int) -> bool:
    if not isinstance(value, list) or not all(type(item) is int for item in cast("list[object]", value)):
        return False
    return sorted(cast("list[int]", value)) == list(range(size))
