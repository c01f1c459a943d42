"""LiteRT and tflite-runtime. Importing this package imports no runtime."""

from adapters.litert.adapter import LiteRTAdapter, TFLiteRuntimeAdapter

__all__ = ["LiteRTAdapter", "TFLiteRuntimeAdapter"]
