"""Faults inside native code: a TFLite delegate and an ONNX Runtime operator in C that fail as they are told."""

from harness.faults.native.build import NativeUnavailableError, native_availability
from harness.faults.native.library import Kind, NativeCounters, NativeFaults, Point, UnverifiedRuntimeError

__all__ = [
    "Kind",
    "NativeCounters",
    "NativeFaults",
    "NativeUnavailableError",
    "Point",
    "UnverifiedRuntimeError",
    "native_availability",
]
