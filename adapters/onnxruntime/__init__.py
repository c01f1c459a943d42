"""ONNX Runtime. Importing this package imports no runtime."""

from adapters.onnxruntime.adapter import OnnxRuntimeAdapter

__all__ = ["OnnxRuntimeAdapter"]
