"""Sessions of ONNX Runtime: the documented concurrent one, and one with fixed buffers in an IOBinding."""

from __future__ import annotations

from typing import Any

import numpy as np

from adapters.base import (
    AdapterError,
    Array,
    Arrays,
    Call,
    Contract,
    Counters,
    DelegateTruth,
    Grain,
    OptionError,
    RunError,
    RunInterruptedError,
    Scope,
    Session,
    SessionClosedError,
    Shapes,
    Sharing,
    StagedCall,
    check_inputs,
    check_outputs,
    check_shapes,
    shapes_of,
)
from adapters.onnxruntime.truth import runtime_identity, tensor_spec

__all__ = ["SILENT", "BoundSession", "RunSession"]

SILENT = 4  # fatal only: the default prints each failed run, with text of the model, to the process's stderr


class _OrtSession(Session):
    """What both kinds of session have: the native one, and the run options of the calls in flight."""

    interrupt_grain = Grain.NODE

    def __init__(self, ort: Any, native: Any, truth: DelegateTruth) -> None:
        self._ort = ort
        self._native: Any = native
        self._live: dict[int, Any] = {}
        self._last_error: str | None = None
        self.contract = Contract(
            inputs=tuple(tensor_spec(tensor) for tensor in native.get_inputs()),
            outputs=tuple(tensor_spec(tensor) for tensor in native.get_outputs()),
        )
        self.identity = runtime_identity(ort)
        self.delegate = truth

    def interrupt(self) -> None:
        """End every call in flight before its next node, also one that is bound and not yet invoked."""
        for options in tuple(self._live.values()):
            options.terminate = True

    def close(self) -> None:
        """Drop the native session. A call still in flight keeps it alive until it returns."""
        self._native = None

    def open_native(self) -> Any:
        """The native session. Raises SessionClosedError."""
        if (native := self._native) is None:
            message = "the session is closed"
            raise SessionClosedError(message)
        return native

    def begin(self) -> Any:
        """Return run options for one call. A terminate flag stays set, so no two calls may share them."""
        options = self._ort.RunOptions()
        options.log_severity_level = SILENT
        self._live[id(options)] = options
        return options

    def end(self, options: Any) -> None:
        """Forget a call."""
        self._live.pop(id(options), None)

    def failure(self, options: Any, error: Exception) -> AdapterError:
        """Say what a failure was: RunInterruptedError or RunError, without the runtime's text."""
        failure: AdapterError
        if options.terminate and "terminate flag" in str(error):
            failure = RunInterruptedError("the run was interrupted")
        else:
            kind = type(error).__name__
            # A failure of the execution provider itself, as of a lost device, leaves the session unusable.
            failure = RunError(f"the run failed: {kind}", scope=Scope.CONTEXT if kind == "EPFail" else None, code=kind)
        self._last_error = type(failure).__name__
        # The caller raises it: a frame that names the error it raises is a cycle, and what it holds outlives `close`.
        return failure

    def _counted(self, buffers: int) -> Counters:
        live = 0 if self._native is None else 1
        return Counters(
            live_contexts=live, registered_buffers=buffers * live, live_delegates=live, last_error=self._last_error
        )


class RunSession(_OrtSession):
    """The documented way: calls may overlap on one session, each with its own feeds, options and outputs."""

    sharing = Sharing.CONCURRENT_RUN
    fresh_outputs = True  # behind a capsule, which numpy cannot look into

    def call(self, inputs: Arrays) -> Call:
        """Start a call with state of its own."""
        return _RunCall(self, inputs)

    def counters(self) -> Counters:
        """One context; no buffer outlives a call."""
        return self._counted(0)


class _RunCall:
    """One `run`: it owns its feeds and outputs."""

    def __init__(self, session: RunSession, inputs: Arrays) -> None:
        self._session = session
        self._inputs = inputs
        self._feeds: dict[str, Array] = {}
        self._options: Any = None
        self._outputs: dict[str, Array] = {}

    def bind(self) -> None:
        """Check the inputs and copy them: the runtime does not, and reads them while it runs."""
        self._session.open_native()
        check_inputs(self._session.contract, self._inputs)
        self._feeds = {name: array.copy() for name, array in self._inputs.items()}
        self._options = self._session.begin()

    def invoke(self) -> None:
        """Run with this call's own options."""
        native = self._session.open_native()
        names = [spec.name for spec in self._session.contract.outputs]
        failed: Exception | None = None
        outputs: list[Array] = []
        try:
            outputs = native.run(names, self._feeds, self._options)
        except Exception as error:  # noqa: BLE001 - its error classes share no base but Exception
            failed = error.with_traceback(None)
        self._session.end(self._options)
        del native  # a caller keeps the error, and with it this frame: no error may keep the native session
        if failed is not None:
            raise self._session.failure(self._options, failed)
        self._outputs = dict(zip(names, outputs, strict=True))

    def fetch(self) -> dict[str, Array]:
        """Return the outputs, which the runtime made for this call alone."""
        self._session.open_native()
        check_outputs(self._session.contract, self._outputs)
        return dict(self._outputs)


class BoundSession(_OrtSession):
    """One IOBinding with fixed buffers. Two threads that share it read each other's outputs.

    Buffers belong to the session and are replaced only by a `bind` with another shape, so that a wrong interleaving of
    whole steps gives wrong answers and never touches freed memory.
    """

    sharing = Sharing.EXCLUSIVE

    def __init__(self, ort: Any, native: Any, truth: DelegateTruth) -> None:
        super().__init__(ort, native, truth)
        if any(spec.dtype == "object" for spec in (*self.contract.inputs, *self.contract.outputs)):
            message = "io_binding needs numeric tensors, and this model has strings"
            raise OptionError(message)
        self._binding: Any = native.io_binding()
        self._buffers: dict[str, Array] = {}
        self._options: Any = None

    def call(self, inputs: Arrays) -> StagedCall:
        """Start a call on the session's buffers."""
        return StagedCall(self, inputs)

    def bind(self, inputs: Arrays) -> None:
        """Check the inputs and write them into the bound buffers."""
        self.open_native()
        check_inputs(self.contract, inputs)
        self._plan(shapes_of(inputs))
        for name, array in inputs.items():
            self._buffers[name][...] = array
        self._live.clear()
        self._options = self.begin()

    def resize(self, shapes: Shapes) -> None:
        """Bind buffers of these shapes; the runtime plans the rest inside the run."""
        self.open_native()
        check_shapes(self.contract, shapes)
        self._plan(shapes)

    def invoke(self) -> None:
        """Run on what the buffers hold now."""
        native, options = self.open_native(), self._options or self.begin()
        self._options = None
        failed: Exception | None = None
        try:
            native.run_with_iobinding(self._binding, options)
        except Exception as error:  # noqa: BLE001 - its error classes share no base but Exception
            failed = error.with_traceback(None)
        self.end(options)
        del native
        if failed is not None:
            raise self.failure(options, failed)

    def fetch(self) -> dict[str, Array]:
        """Copy what the output buffers hold now."""
        self.open_native()
        values = self._binding.get_outputs()
        names = [spec.name for spec in self.contract.outputs]
        outputs = {
            name: np.array(self._buffers[name] if name in self._buffers else value.numpy())
            for name, value in zip(names, values, strict=True)
        }
        check_outputs(self.contract, outputs)
        return outputs

    def counters(self) -> Counters:
        """One context and the buffers that are bound."""
        return self._counted(len(self._buffers))

    def close(self) -> None:
        """Release the binding, then the native session."""
        self._binding = None
        super().close()

    def _plan(self, shapes: Shapes) -> None:
        if any(name not in self._buffers or self._buffers[name].shape != shape for name, shape in shapes.items()):
            self._allocate(shapes)

    def _allocate(self, shapes: Shapes) -> None:
        """Bind new buffers for these input shapes. The runtime allocates an output whose shape is not known before."""
        self._buffers = {spec.name: np.zeros(shapes[spec.name], spec.dtype) for spec in self.contract.inputs}
        for spec in self.contract.inputs:
            self._binding.bind_input(*_place(spec.name, self._buffers[spec.name]))
        for spec in self.contract.outputs:
            if any(dim is None for dim in spec.shape):
                self._binding.bind_output(spec.name, "cpu")
            else:
                buffer = np.zeros(tuple(dim or 0 for dim in spec.shape), spec.dtype)
                self._buffers[spec.name] = buffer
                self._binding.bind_output(*_place(spec.name, buffer))


def _place(name: str, buffer: Array) -> tuple[Any, ...]:
    return name, "cpu", 0, buffer.dtype.type, buffer.shape, buffer.ctypes.data
