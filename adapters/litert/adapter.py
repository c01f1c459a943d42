"""LiteRT and tflite-runtime over the Interpreter API that both have.

Delegates:

    xnnpack        the default: XNNPACK, which the runtime applies by itself; where it takes no node, the truth says
                   that the builtin kernels ran and that this is a fallback, and no error is raised
    builtin        builtin kernels only
    external:PATH  a shared library with `tflite_plugin_create_delegate`, applied alone; the truth names the file only

Options:

    fallback      bool, default false: run on builtin kernels when an external delegate does not start
    num_threads   int, default 1
    delegate.KEY  passed to an external delegate as its option KEY
"""

from __future__ import annotations

import ctypes
import importlib
import sys
import warnings
from abc import abstractmethod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from adapters.base import (
    Adapter,
    Availability,
    DelegateInitError,
    Identity,
    ModelFile,
    ModelLoadError,
    Options,
    Session,
    UnavailableError,
    file_digest,
)
from adapters.litert.cancellation import CancellationHook
from adapters.litert.placement import BUILTIN, delegate_truth
from adapters.litert.schema import check_model
from adapters.litert.session import InterpreterSession
from adapters.options import OptionReader

__all__ = ["LiteRTAdapter", "TFLiteRuntimeAdapter"]

_XNNPACK = "xnnpack"
_EXTERNAL = "external:"


class _Asked:
    """What a caller of `open` asked for. Raises OptionError."""

    def __init__(self, delegate: str, options: Options) -> None:
        reader = OptionReader(options)
        self.fallback = reader.flag("fallback")
        self.threads = reader.integer("num_threads", default=1, low=1)
        self.delegate_options = reader.prefixed("delegate.")
        reader.finish()
        self.delegate = delegate
        self.library = delegate.removeprefix(_EXTERNAL) if delegate.startswith(_EXTERNAL) else ""
        # The folder of a delegate is nobody's business: truth, errors and receipts carry the file's name.
        self.label = f"{_EXTERNAL}{Path(self.library).name}" if self.library else delegate


class _InterpreterAdapter(Adapter):
    """What the two flavours share; they differ in the package, in what hinders it, and in their libraries."""

    suffixes: ClassVar[tuple[str, ...]] = (".tflite",)
    default_delegate: ClassVar[str] = _XNNPACK
    cpu_delegate: ClassVar[str] = BUILTIN
    package: ClassVar[str]
    install: ClassVar[str]
    libraries: ClassVar[tuple[str, ...]]

    @abstractmethod
    def hindrance(self) -> str:
        """Why the package cannot work here, known without importing it; empty if it can."""

    def probe(self) -> Availability:
        """Import the runtime and name the delegates."""
        try:
            self._runtime()
            identity = self._identity()
        except UnavailableError as error:
            return Availability(importable=False, why_not=str(error), install=self.install)
        delegates = (_XNNPACK, BUILTIN, f"{_EXTERNAL}PATH")
        return Availability(importable=True, version=identity.version, build=identity.build, delegates=delegates)

    def open(self, model: ModelFile, delegate: str, options: Options) -> Session:
        """Open a session with the delegates and options that the module describes."""
        asked = _Asked(delegate, options)
        runtime = self._runtime()
        check_model(model.data)
        if asked.library:
            interpreter, init_error = _load_external(runtime, model, asked)
        else:
            interpreter, init_error = _load_internal(runtime, model, asked)
        session = self._session(interpreter, asked.label, init_error)
        del interpreter  # whoever keeps an error keeps this frame
        if isinstance(session, ModelLoadError):
            raise session
        return session

    def _session(self, interpreter: Any, label: str, init_error: str | None) -> Session | ModelLoadError:
        """The session of an interpreter, or what hinders it: as a value, for a traceback would keep the interpreter."""
        try:
            operators = interpreter._get_ops_details()  # noqa: SLF001 - its only account of placement
            truth = delegate_truth(operators, label, init_error)
            hook = CancellationHook.install(self._native_library(), interpreter)
            return InterpreterSession(interpreter, self._identity(), truth, hook)
        except ModelLoadError as error:
            return error.with_traceback(None)
        except ValueError as error:  # a damaged model: a tensor's name that is no text
            return _not_loaded(type(error).__name__)

    def _runtime(self) -> Any:
        if problem := self.hindrance():
            raise UnavailableError(problem)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # advertising for the next package
                runtime = importlib.import_module(f"{self.package}.interpreter")
        except ImportError:
            runtime = None
        if runtime is None:
            message = f"{self.package.replace('_', '-')} is not installed"
            raise UnavailableError(message)
        return runtime

    def _identity(self) -> Identity:
        package = sys.modules[self.package]
        digests = {file.name: file_digest(str(file)) for file in self._native_libraries()}
        return Identity(
            runtime=self.package.replace("_", "-"),
            version=str(package.__version__),
            # LiteRT names no build: the library's digest stands in.
            build=str(getattr(package, "__git_version__", "") or next(iter(digests.values()), "")[:12]),
            artifacts=digests,
        )

    def _native_libraries(self) -> list[Path]:
        folder = Path(str(sys.modules[self.package].__file__)).parent
        return [file for pattern in self.libraries for file in sorted(folder.glob(pattern))]

    def _native_library(self) -> str:
        return str(self._native_libraries()[0])


class LiteRTAdapter(_InterpreterAdapter):
    """The Interpreter of `ai-edge-litert`. It cannot be interrupted: the library exports no hook."""

    name: ClassVar[str] = "litert"
    package: ClassVar[str] = "ai_edge_litert"
    install: ClassVar[str] = "pip install ai-edge-litert"
    libraries: ClassVar[tuple[str, ...]] = ("libpywrap_litert_common*", "_pywrap_litert_interpreter_wrapper*")

    def hindrance(self) -> str:
        """Nothing known."""
        return ""


class TFLiteRuntimeAdapter(_InterpreterAdapter):
    """The Interpreter of `tflite-runtime`, whose last release is 2.14."""

    name: ClassVar[str] = "tflite"
    package: ClassVar[str] = "tflite_runtime"
    install: ClassVar[str] = "pip install tflite-runtime 'numpy<2' (Python 3.11), or ai-edge-litert, its successor"
    libraries: ClassVar[tuple[str, ...]] = ("_pywrap_tensorflow_interpreter_wrapper*",)

    def hindrance(self) -> str:
        """Its wheels end at Python 3.11, and with numpy 2 its constructor fails."""
        if sys.version_info >= (3, 12):
            version = f"{sys.version_info[0]}.{sys.version_info[1]}"
            return f"tflite-runtime has no wheel for Python {version}: its last ones are for 3.11"
        if int(np.__version__.partition(".")[0]) > 1:
            return f"tflite-runtime needs numpy below 2, and {np.__version__} is installed"
        return ""


def _load_internal(runtime: Any, model: ModelFile, asked: _Asked) -> tuple[Any, str | None]:
    """Load on XNNPACK or on builtin kernels; another name is a delegate that does not start."""
    known = asked.delegate in {_XNNPACK, BUILTIN}
    if not known and not asked.fallback:
        message = f"there is no delegate {asked.delegate!r}: ask for {_XNNPACK}, {BUILTIN} or {_EXTERNAL}PATH"
        raise DelegateInitError(message)
    interpreter, error = _attempt(runtime, model, asked, xnnpack=asked.delegate == _XNNPACK)
    if interpreter is None:
        raise _not_loaded(error)
    return interpreter, None if known else UnavailableError.__name__


def _load_external(runtime: Any, model: ModelFile, asked: _Asked) -> tuple[Any, str | None]:
    interpreter, error = _attempt_external(runtime, model, asked)
    if interpreter is not None:
        return interpreter, None
    # The builtin kernels tell a delegate that does not start from a model that nobody loads.
    plain, plain_error = _attempt(runtime, model, asked, xnnpack=False)
    if plain is None:
        raise _not_loaded(plain_error)
    if not asked.fallback:
        del plain  # whoever keeps the error keeps this frame
        message = f"the delegate {asked.label} did not start ({error})"
        raise DelegateInitError(message)
    return plain, error


def _attempt_external(runtime: Any, model: ModelFile, asked: _Asked) -> tuple[Any, str]:
    try:
        # Looked at first: the runtime's own loader, when it fails, prints the library's path from a finalizer.
        library = ctypes.PyDLL(asked.library)
        _ = library.tflite_plugin_create_delegate, library.tflite_plugin_destroy_delegate
        delegate = runtime.load_delegate(asked.library, asked.delegate_options)
    except (OSError, AttributeError, ValueError, RuntimeError) as error:
        return None, type(error).__name__
    # The interpreter keeps this very list and releases the delegate after itself: no other reference may outlive it.
    return _attempt(runtime, model, asked, xnnpack=False, delegates=[delegate])


def _attempt(
    runtime: Any, model: ModelFile, asked: _Asked, *, xnnpack: bool, delegates: list[Any] | None = None
) -> tuple[Any, str]:
    resolvers = runtime.OpResolverType
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # advertising for the next package
            interpreter = runtime.Interpreter(
                model_content=model.data,  # never a path: the runtime would map the file, and follow its later edits
                experimental_delegates=delegates,
                num_threads=asked.threads,
                experimental_op_resolver_type=resolvers.AUTO
                if xnnpack
                else resolvers.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
            )
        interpreter.allocate_tensors()
    except (RuntimeError, ValueError, MemoryError, SystemError) as error:
        return None, type(error).__name__
    return interpreter, ""


def _not_loaded(error: str) -> ModelLoadError:
    return ModelLoadError(f"the runtime does not load the model ({error})")
