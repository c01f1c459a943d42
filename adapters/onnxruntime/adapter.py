"""ONNX Runtime. A delegate is an execution provider by its own name, as in `CPUExecutionProvider`.

Options:

    fallback          bool, default false: run on the CPU what the provider does not start for or does not take
    io_binding        bool, default false: one IOBinding with fixed buffers per session, which is then exclusive
    intra_op_threads  int, default 1; 0 lets the runtime choose
    inter_op_threads  int, default 1; 0 lets the runtime choose
    optimization      all (default), extended, basic, disabled
    custom_ops        a shared library with `RegisterCustomOps`, whose operators the model may use; default none
    delegate.KEY      passed to the provider as its option KEY

Strict, the default, means that every node runs on the provider that was asked for. An ordinary run gives ONNX Runtime
private copies of its inputs, because the runtime reads the caller's memory while it runs.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from adapters.base import (
    Adapter,
    AdapterError,
    Availability,
    DelegateInitError,
    DelegateTruth,
    ModelFile,
    ModelLoadError,
    OptionError,
    Options,
    Session,
    UnavailableError,
)
from adapters.onnxruntime.session import SILENT, BoundSession, RunSession
from adapters.onnxruntime.truth import CPU, delegate_truth
from adapters.options import OptionReader

__all__ = ["OnnxRuntimeAdapter"]

_INSTALL = "pip install onnxruntime"
_LEVELS = {
    "all": "ORT_ENABLE_ALL",
    "extended": "ORT_ENABLE_EXTENDED",
    "basic": "ORT_ENABLE_BASIC",
    "disabled": "ORT_DISABLE_ALL",
}


class OnnxRuntimeAdapter(Adapter):
    """ONNX Runtime through its Python API. The runtime is imported by `probe` and `open`."""

    name: ClassVar[str] = "onnxruntime"
    suffixes: ClassVar[tuple[str, ...]] = (".onnx",)
    default_delegate: ClassVar[str] = CPU
    cpu_delegate: ClassVar[str] = CPU
    shared_state_options: ClassVar[Options] = {"io_binding": True}

    def probe(self) -> Availability:
        """Import the runtime and list its providers."""
        try:
            ort = _runtime()
            return Availability(
                importable=True,
                version=ort.get_version_string(),
                build=ort.get_build_info(),
                delegates=tuple(ort.get_available_providers()),
            )
        except UnavailableError as error:
            return Availability(importable=False, why_not=str(error), install=_INSTALL)

    def open(self, model: ModelFile, delegate: str, options: Options) -> Session:
        """Open a session with the options that the module describes."""
        asked = _Asked(delegate, options)
        ort = _runtime()
        native, init_error = _load(ort, model, asked)
        kind = BoundSession if asked.io_binding else RunSession
        session = _session(ort, native, kind, delegate_truth(native, delegate, init_error))
        del native  # whoever keeps an error keeps this frame
        if isinstance(session, AdapterError):
            raise session
        return session


class _Asked:
    """What a caller of `open` asked for. Raises OptionError."""

    def __init__(self, delegate: str, options: Options) -> None:
        reader = OptionReader(options)
        self.delegate = delegate
        self.fallback = reader.flag("fallback")
        self.io_binding = reader.flag("io_binding")
        self.intra_op_threads = reader.integer("intra_op_threads", default=1)
        self.inter_op_threads = reader.integer("inter_op_threads", default=1)
        self.optimization = reader.choice("optimization", default="all", allowed=_LEVELS)
        self.custom_ops = reader.text("custom_ops")
        self.provider_options = reader.prefixed("delegate.")
        reader.finish()


def _runtime() -> Any:
    # Telemetry starts a thread at import: a forked child could hang at its exit, and files appear in the user's cache.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        ort = importlib.import_module("onnxruntime")
    except ImportError:
        ort = None
    if ort is None:
        message = "onnxruntime is not installed"
        raise UnavailableError(message)
    return ort


def _session(
    ort: Any, native: Any, kind: type[BoundSession | RunSession], truth: DelegateTruth
) -> Session | AdapterError:
    """The session of a native one, or what hinders it: as a value, for a traceback would keep the native one."""
    try:
        return kind(ort, native, truth)
    except (ModelLoadError, OptionError) as error:
        return error.with_traceback(None)


def _load(ort: Any, model: ModelFile, asked: _Asked) -> tuple[Any, str | None]:
    """Load the model on the provider, or, where that is allowed, on the CPU. Returns the error class that led there."""
    if asked.delegate == CPU:
        native, error = _attempt(ort, model, asked, [CPU])
        if native is None:
            _refuse_model(error)
        return native, None
    error = "UnavailableError"
    if asked.delegate in ort.get_available_providers():
        providers: list[Any] = [(asked.delegate, asked.provider_options)]
        native, error = _attempt(ort, model, asked, [*providers, CPU] if asked.fallback else providers)
        if native is not None:
            return native, None
    # The CPU tells a provider that does not start from a model that nobody loads.
    native, cpu_error = _attempt(ort, model, asked, [CPU])
    if native is None:
        _refuse_model(cpu_error)
    if not asked.fallback:
        del native  # whoever keeps the error keeps this frame
        message = f"{asked.delegate} did not start, or not for every node of the model ({error})"
        raise DelegateInitError(message)
    return native, error


def _refuse_model(error: str) -> NoReturn:
    message = f"ONNX Runtime does not load the model ({error})"
    raise ModelLoadError(message)


def _attempt(ort: Any, model: ModelFile, asked: _Asked, providers: list[Any]) -> tuple[Any, str]:
    config = ort.SessionOptions()
    config.log_severity_level = SILENT
    config.intra_op_num_threads = asked.intra_op_threads
    config.inter_op_num_threads = asked.inter_op_threads
    config.graph_optimization_level = getattr(ort.GraphOptimizationLevel, _LEVELS[asked.optimization])
    config.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    if CPU not in providers:
        config.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    _register_custom_ops(config, asked.custom_ops)
    try:
        native = ort.InferenceSession(model.data, config, providers=providers, enable_fallback=False)
        native.disable_fallback()  # else a run that fails on a provider is run a second time on the CPU
    except Exception as error:  # noqa: BLE001 - its error classes share no base but Exception
        return None, type(error).__name__
    return native, ""


def _register_custom_ops(config: Any, library: str) -> None:
    """Raise DelegateInitError for operators that do not register: else the model would be blamed for using them."""
    error = ""
    try:
        if library:
            config.register_custom_ops_library(library)
    except Exception as caught:  # noqa: BLE001 - its error classes share no base but Exception
        error = type(caught).__name__
    if error:
        # The folder of a library is nobody's business.
        message = f"the operators of {Path(library).name} did not register ({error})"
        raise DelegateInitError(message)
