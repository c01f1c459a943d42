"""Finds adapters: by entry point (`racegate.adapters`), as `package.module:Name`, or as `path/file.py:Name`."""

from __future__ import annotations

import importlib
import importlib.metadata
from types import ModuleType

from adapters.base import Adapter
from harness.loading import load_file
from harness.models.errors import UnknownAdapterError

__all__ = ["adapter_names", "load_adapter"]

_GROUP = "racegate.adapters"
_OURS = {
    "numpy": "adapters.numpy_reference:NumpyAdapter",
    "onnxruntime": "adapters.onnxruntime:OnnxRuntimeAdapter",
    "litert": "adapters.litert:LiteRTAdapter",
    "tflite": "adapters.litert:TFLiteRuntimeAdapter",
}
"""Our own entry points again, for a checkout that is not installed. A test compares them with pyproject.toml."""


def adapter_names() -> tuple[str, ...]:
    """The names of the adapters that are installed, ours first."""
    return (*_OURS, *sorted(_places().keys() - _OURS.keys()))


def load_adapter(name: str) -> Adapter:
    """Make the adapter of that name, `package.module:Name` or `path/file.py:Name`. Raises UnknownAdapterError.

    Loading runs the adapter's module, never a runtime: that is imported by `probe` and `open`.
    """
    place = _places().get(name, name)
    where, separator, attribute = place.rpartition(":")
    if not separator or not where or not attribute.isidentifier():
        message = f"no adapter is called {name!r}: there are {', '.join(adapter_names())}"
        raise UnknownAdapterError(message)
    return _make(name, _module(name, where), attribute)


def _places() -> dict[str, str]:
    found = {point.name: point.value for point in importlib.metadata.entry_points(group=_GROUP)}
    return found | _OURS


def _module(name: str, where: str) -> ModuleType:
    try:
        return load_file(where) if where.endswith(".py") else importlib.import_module(where)
    except Exception as error:  # noqa: BLE001 - a user's module may raise anything while it is imported
        problem = (
            "there is no such file" if isinstance(error, FileNotFoundError) else f"{type(error).__name__}: {error}"
        )
    message = f"adapter {name!r} cannot be loaded: {problem.splitlines()[0]}"
    raise UnknownAdapterError(message)


def _make(name: str, module: ModuleType, attribute: str) -> Adapter:
    made = getattr(module, attribute, None)
    if not isinstance(made, type) or not issubclass(made, Adapter):
        message = f"adapter {name!r}: {attribute} is not a class that implements adapters.base.Adapter"
        raise UnknownAdapterError(message)
    return made()
