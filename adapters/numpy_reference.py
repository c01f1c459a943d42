"""The reference adapter: tiny models in plain numpy, with the same shared mutable buffers as a TFLite interpreter.

A model is a JSON object `{"format": "racegate-numpy/1", "kind": KIND, "shape": [1, 16], ...}`:

    affine       `scale`, `offset`     y = x * scale + offset
    permutation  `order`               y[..., j] = x[..., order[j]]
    slow         `order`               the permutation `n` times over, `n` an int32 input of shape [1]
    stateful     `step`                y = x + step * k in the kth run of the session
    rows         `order`               the permutation plus the size of the first dimension

A dimension of `null` is dynamic: not the last one, and in no model that counts or remembers. A session keeps buffers
for the last eight shapes that it has met.

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
    Shapes,
    Sharing,
    StagedCall,
    TensorSpec,
    check_inputs,
    check_shapes,
    file_digest,
)
from adapters.options import OptionReader

__all__ = ["FORMAT", "NumpyAdapter"]

FORMAT = "racegate-numpy/1"
_DELEGATE = "reference"
_MOST_ELEMENTS = 1 << 20
_MOST_PLANS = 8

Kernel: TypeAlias = Callable[[], None]
Description: TypeAlias = dict[str, Any]


class _Buffers:
    """The session's own memory for one shape: what `bind` writes, the kernel reads and writes, and `fetch` reads."""

    __slots__ = ("interrupted", "n", "x", "y")

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.x: Array = np.zeros(shape, np.float32)
        self.n: Array = np.zeros((1,), np.int32)
        self.y: Array = np.zeros(shape, np.float32)
        self.interrupted = False


class _Plan:
    """What a session has for one shape: buffers, the kernel that works on them, and what `bind` compares with."""

    __slots__ = ("buffers", "inputs", "kernel")

    def __init__(self, description: Description, shape: tuple[int, ...]) -> None:
        kind: str = description["kind"]
        self.buffers = buffers = _Buffers(shape)
        self.kernel = _KERNELS[kind](description, buffers)
        arrays = {"x": buffers.x} | ({"n": buffers.n} if kind == "slow" else {})
        self.inputs = tuple((name, array, array.dtype, array.shape) for name, array in arrays.items())


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
        self._description = description
        self._plans: dict[tuple[int, ...], _Plan] = {}
        self._plan = self._planned(tuple(size or 1 for size in description["shape"]))
        self.contract = Contract(
            inputs=tuple(self._spec(name, array) for name, array, _, _ in self._plan.inputs),
            outputs=(self._spec("y", self._plan.buffers.y),),
        )
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
        plan = self._plan
        matches = len(inputs) == len(plan.inputs)
        for name, _, dtype, shape in plan.inputs:
            array = inputs.get(name)
            # Exact type first: this path is taken a thousand times a second, check_inputs only to name what is wrong.
            if type(array) is not np.ndarray or array.dtype != dtype or array.shape != shape:
                matches = False
        if not matches:
            check_inputs(self.contract, inputs)
            plan = self._plan = self._planned(inputs["x"].shape)
        plan.buffers.interrupted = False
        for name, buffer, _, _ in plan.inputs:
            buffer[...] = inputs[name]

    def resize(self, shapes: Shapes) -> None:
        """Make the buffers of this shape, or take those that are there, for what is bound next."""
        if self._closed:
            raise _closed()
        check_shapes(self.contract, shapes)
        self._plan = self._planned(shapes["x"])

    def invoke(self) -> None:
        """Run the kernel on what the buffers hold now."""
        if self._closed:
            raise _closed()
        plan = self._plan
        if plan.buffers.interrupted:
            raise self._interrupted()
        plan.kernel()
        if plan.buffers.interrupted:
            raise self._interrupted()

    def fetch(self) -> dict[str, Array]:
        """Copy what the output buffer holds now."""
        if self._closed:
            raise _closed()
        return {"y": self._plan.buffers.y.copy()}

    def interrupt(self) -> None:
        """Make the call in flight end before its next round."""
        self._plan.buffers.interrupted = True

    def counters(self) -> Counters:
        """One context and its buffers, until `close`."""
        live = 0 if self._closed else 1
        return Counters(
            live_contexts=live,
            registered_buffers=live * len(self._plans) * (len(self._plan.inputs) + 1),
            live_delegates=live,
            last_error=self._last_error,
        )

    def close(self) -> None:
        """Mark the session closed."""
        self._closed = True

    def _planned(self, shape: tuple[int, ...]) -> _Plan:
        plan = self._plans.get(shape)
        if plan is None:
            if len(self._plans) == _MOST_PLANS:
                del self._plans[next(iter(self._plans))]
            plan = self._plans[shape] = _Plan(self._description, shape)
        return plan

    def _spec(self, name: str, array: Array) -> TensorSpec:
        shape = array.shape if name == "n" else self._description["shape"]
        return TensorSpec(name=name, dtype=array.dtype.name, shape=shape)

    def _interrupted(self) -> RunInterruptedError:
        self._last_error = RunInterruptedError.__name__
        return RunInterruptedError("the run was interrupted")


def _closed() -> SessionClosedError:
    return SessionClosedError("the session is closed")


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


def _rows(description: Description, buffers: _Buffers) -> Kernel:
    permute, y = _permutation(description, buffers), buffers.y
    rows = np.float32(y.shape[0])

    def kernel() -> None:
        permute()
        np.add(y, rows, out=y)

    return kernel


_KERNELS = {"affine": _affine, "permutation": _permutation, "rows": _rows, "slow": _slow, "stateful": _stateful}
_NUMBERS = {"affine": ("scale", "offset"), "permutation": (), "rows": (), "slow": (), "stateful": ("step",)}
_FIXED = ("slow", "stateful")
_ORDERED = ("permutation", "rows", "slow")


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
    if not _is_shape(shape, dynamic=kind not in _FIXED):
        return "its shape is no list of one to eight small positive integers, or nulls where its kind allows them"
    if not all(_is_number(description.get(name)) for name in _NUMBERS[kind]):
        return f"a {kind} model needs the numbers {', '.join(_NUMBERS[kind])}"
    if kind in _ORDERED and not _is_order(description.get("order"), cast("list[int]", shape)[-1]):
        return "its order is no permutation of the last dimension"
    return ""


def _is_shape(value: object, *, dynamic: bool) -> bool:
    if not isinstance(value, list) or not 1 <= len(dims := cast("list[object]", value)) <= 8:  # noqa: PLR2004 - as the message says
        return False
    sizes = [1 if dim is None and dynamic else dim for dim in dims[:-1]] + dims[-1:]
    whole = all(type(size) is int and size > 0 for size in sizes)
    return whole and math.prod(cast("list[int]", sizes)) <= _MOST_ELEMENTS


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_order(value: object, size: int) -> bool:
    if not isinstance(value, list) or not all(type(item) is int for item in cast("list[object]", value)):
        return False
    return sorted(cast("list[int]", value)) == list(range(size))
