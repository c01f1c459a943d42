"""The handle on a native fault library: arm faults in it, hold calls at its gate, read its counters."""

from __future__ import annotations

import ctypes
import importlib.metadata
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from harness.faults.native.build import build

__all__ = ["Kind", "NativeCounters", "NativeFaults", "Point", "UnverifiedRuntimeError"]

Kind: TypeAlias = Literal["fail", "hang", "slow", "wrong", "stale", "nan", "abort", "segfault", "bus"]
Point: TypeAlias = Literal["create", "prepare", "init", "allocate", "invoke", "destroy"]

_PACKAGES = {"litert": "ai-edge-litert", "tflite": "tflite-runtime"}
_SAFETY_SECONDS = 30.0


class UnverifiedRuntimeError(RuntimeError):
    """The delegate's layout was not measured with the runtime that is installed. The text names those it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeCounters:
    """What a library counted, all at one moment. `live_*` and `held` rise and fall; the others count since `reset`."""

    creates: int
    """Delegates that were asked for; for ONNX Runtime, registrations of the operators."""
    prepares: int
    """Delegates applied to a graph. ONNX Runtime has no such step."""
    inits: int
    """Kernels asked for: one for each partition of a graph, or for each operator of a session."""
    allocates: int
    """Kernels that prepared for the tensors of their graph. ONNX Runtime has no such step."""
    invokes: int
    destroys: int
    """Delegates destroyed; for ONNX Runtime, kernels."""
    live_delegates: int
    """Always 0 for ONNX Runtime, which does not say when it lets go of a registration."""
    live_kernels: int
    strikes: int
    held: int
    """Calls that wait at the gate now."""
    gate_timeouts: int
    """Calls that gave up waiting, and failed."""
    foreign_invokes: int
    """On another thread than the delegate, or the session, was made on."""
    foreign_destroys: int
    overlapping_invokes: int
    """Invokes that entered a kernel while another was in it. ONNX Runtime allows that, TFLite does not."""
    destroyed_in_use: int
    """Delegates destroyed before the interpreters that use them."""
    freed_in_flight: int
    """Kernels freed while an invoke was in them."""
    refusals: int
    """Loads and graphs refused: an unverified runtime, an unknown option, a graph that is laid out otherwise."""
    newest_instance: int
    """The number of the delegate, or ONNX Runtime kernel, that was asked for last; `arm` takes it. Never reset."""


class NativeFaults:
    """One native fault library, loaded into this process. Any thread may call any method.

    The library's state is the process's: all handles on it, and all sessions that use it, share one plan, one gate and
    one set of counters. The gate is closed at first.

    >>> faults = NativeFaults.tflite()
    >>> session = adapter.open(model, faults.delegate, faults.options(adapter.name))
    >>> faults.arm("fail", nth=2)
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        # CDLL lets go of the GIL: `wait_held` may wait while other threads run into the gate.
        self._library = _declared(ctypes.CDLL(str(path)))

    @classmethod
    def tflite(cls) -> NativeFaults:
        """The TFLite delegate, for LiteRT and tflite-runtime. Raises NativeUnavailableError."""
        return cls(build("tflite"))

    @classmethod
    def onnxruntime(cls) -> NativeFaults:
        """The ONNX Runtime operator `racegate.faults.Passthrough`. Raises NativeUnavailableError."""
        return cls(build("onnxruntime"))

    @classmethod
    def of(cls, adapter: str) -> NativeFaults | None:
        """The library that an adapter can load, None for one that we have none for. Raises NativeUnavailableError."""
        if adapter in _PACKAGES:
            return cls.tflite()
        return cls.onnxruntime() if adapter == "onnxruntime" else None

    @property
    def delegate(self) -> str:
        """The delegate library as the adapters `litert` and `tflite` take it."""
        return f"external:{self.path}"

    @property
    def verified(self) -> tuple[str, ...]:
        """The runtimes, by name and version, with which the library's layout was measured."""
        return tuple(self._library.racegate_verified().decode().splitlines())

    @property
    def points(self) -> tuple[Point, ...]:
        """The points that this library has."""
        bits = self._library.racegate_points()
        return tuple(point for place, point in enumerate(get_args(Point)) if bits & 1 << place)

    def options(self, adapter: str) -> Mapping[str, bool | int | str]:
        """The adapter options that load this library: for `onnxruntime` the operators, else the delegate's own.

        The delegate is told which runtime is installed and refuses one it was not measured with; so does this method,
        with UnverifiedRuntimeError, before anything is loaded.
        """
        if adapter == "onnxruntime":
            return {"custom_ops": str(self.path)}
        runtime = _installed(_PACKAGES[adapter])
        if runtime not in self.verified:
            message = f"the native delegate is not verified with {runtime}: it is with {', '.join(self.verified)}"
            raise UnverifiedRuntimeError(message)
        return {"delegate.runtime": runtime}

    def arm(
        self,
        kind: Kind,
        *,
        point: Point = "invoke",
        nth: int = 1,
        times: int | None = 1,
        seconds: float = _SAFETY_SECONDS,
        instance: int | None = None,
    ) -> None:
        """Arm a fault for the nth call at a point from now on, and for `times` calls in a row; None is for ever.

        `seconds` of real time are how long `slow` lasts and when a `hang` gives up and fails. `instance` is the number
        of the delegate, or of the ONNX Runtime kernel, in order of creation, from 1. Raises ValueError.
        """
        if times == 0:
            message = "a fault strikes at least once"
            raise ValueError(message)
        names = kind.encode(), point.encode()
        problem = self._library.racegate_arm(*names, nth, times or 0, seconds, instance or 0)
        if problem is not None:
            message = f"cannot arm {kind!r} at {point!r}: {problem.decode()}"
            raise ValueError(message)

    def disarm(self) -> None:
        """Forget every armed fault. Calls held at the gate stay there."""
        self._library.racegate_disarm()

    def bind_threads(self, *, bound: bool = True) -> None:
        """Make it an error to invoke a kernel on another thread than it was made on. Destroying it there is counted."""
        self._library.racegate_bind_threads(int(bound))

    def open_gate(self) -> None:
        """Let every call held at the gate go on, and every later one pass."""
        self._library.racegate_gate(1)

    def let_go(self, instance: int | None = None) -> None:
        """Let the calls held at the gate now go on, of one instance or of all: the gate stays closed to later ones."""
        self._library.racegate_let_go(instance or 0)

    def close_gate(self) -> None:
        """Hold later calls again. Those that were let go stay so."""
        self._library.racegate_gate(0)

    def wait_held(self, calls: int = 1, *, seconds: float = _SAFETY_SECONDS) -> bool:
        """Wait in real time until so many calls are held at the gate. False where that took too long."""
        return bool(self._library.racegate_wait_held(calls, seconds))

    def counters(self) -> NativeCounters:
        """Read every counter at one moment."""
        names = [field.name for field in fields(NativeCounters)]
        values = (ctypes.c_int64 * len(names))()
        self._library.racegate_counters(values, len(names))
        return NativeCounters(**dict(zip(names, values, strict=True)))

    def reset(self) -> None:
        """Disarm, let go of what the gate holds, close it, unbind threads, and count from 0 what is not live."""
        self._library.racegate_reset()


def _installed(package: str) -> str:
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{package}, which is not installed"


def _declared(library: ctypes.CDLL) -> Any:
    text, number, seconds = ctypes.c_char_p, ctypes.c_int64, ctypes.c_double
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "racegate_arm": (text, [text, text, number, number, seconds, number]),
        "racegate_disarm": (None, []),
        "racegate_bind_threads": (None, [ctypes.c_int]),
        "racegate_gate": (None, [ctypes.c_int]),
        "racegate_let_go": (None, [number]),
        "racegate_wait_held": (ctypes.c_int, [number, seconds]),
        "racegate_counters": (None, [ctypes.POINTER(number), ctypes.c_int]),
        "racegate_counter_names": (text, []),
        "racegate_points": (ctypes.c_uint, []),
        "racegate_reset": (None, []),
        "racegate_verified": (text, []),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    names = [field.name for field in fields(NativeCounters)]
    assert library.racegate_counter_names().decode().split() == names, "a handle and its library count the same things"
    return library
