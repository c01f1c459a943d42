"""A session over one TFLite interpreter: exclusive, with the interpreter's own input and output tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from adapters.base import (
    AdapterError,
    Array,
    Arrays,
    Contract,
    Counters,
    DelegateTruth,
    Grain,
    Identity,
    ModelLoadError,
    RunError,
    RunInterruptedError,
    Session,
    SessionClosedError,
    Shapes,
    Sharing,
    StagedCall,
    TensorSpec,
    check_inputs,
    check_outputs,
    check_shapes,
    shapes_of,
)
from adapters.litert.cancellation import CancellationHook

__all__ = ["InterpreterSession"]


class InterpreterSession(Session):
    """One interpreter after `allocate_tensors`.

    `bind` writes every input every time, because an input left out would silently keep an earlier task's values. The
    interpreter holds its delegate and releases it last; nothing else may hold either.
    """

    sharing = Sharing.EXCLUSIVE

    def __init__(
        self, interpreter: Any, identity: Identity, delegate: DelegateTruth, hook: CancellationHook | None
    ) -> None:
        inputs = _named(interpreter.get_input_details())
        self._outputs = {
            name: int(tensor["index"]) for name, tensor in _named(interpreter.get_output_details()).items()
        }
        self.contract = Contract(
            inputs=tuple(_spec(name, tensor) for name, tensor in inputs.items()),
            outputs=tuple(_spec(name, tensor) for name, tensor in _named(interpreter.get_output_details()).items()),
        )
        self.identity = identity
        self.delegate = delegate
        self.interrupt_grain = Grain.NONE if hook is None else Grain.NODE
        self._inputs = {name: int(tensor["index"]) for name, tensor in inputs.items()}
        self._shapes: dict[str, tuple[int, ...] | None] = {
            name: tuple(int(dim) for dim in tensor["shape"]) for name, tensor in inputs.items()
        }
        self._interpreter: Any = interpreter
        self._hook = hook
        self._reported = 0
        self._last_error: str | None = None

    def call(self, inputs: Arrays) -> StagedCall:
        """Start a call on the interpreter's tensors."""
        return StagedCall(self, inputs)

    def bind(self, inputs: Arrays) -> None:
        """Check the inputs and write them into the interpreter's tensors, resized first where a shape changed."""
        self._open()
        check_inputs(self.contract, inputs)
        interpreter = self._open()
        if self._hook is not None:
            self._hook.reset()
        failed: Exception | None = None
        try:
            self._plan(interpreter, shapes_of(inputs))
            for name, index in self._inputs.items():
                array = inputs[name]
                interpreter.set_tensor(index, array if array.flags.c_contiguous else array.copy(order="C"))
        except (RuntimeError, ValueError, MemoryError) as error:
            failed = error.with_traceback(None)
        del interpreter  # a caller keeps the error, and with it this frame: no error may keep the interpreter
        if failed is not None:
            raise self._failure(failed, "bind")

    def invoke(self) -> None:
        """Run on what the input tensors hold now. The GIL is released."""
        interpreter = self._open()
        failed: Exception | None = None
        try:
            interpreter.invoke()
        except (RuntimeError, ValueError, MemoryError) as error:
            failed = error.with_traceback(None)
        del interpreter  # a caller keeps the error, and with it this frame: no error may keep the interpreter
        if failed is not None:
            raise self._failure(failed, "run")

    def fetch(self) -> dict[str, Array]:
        """Copy what the output tensors hold now."""
        interpreter = self._open()
        failed: Exception | None = None
        outputs: dict[str, Array] = {}
        try:
            # get_tensor copies; a scalar comes back as a numpy scalar.
            outputs = {name: np.asarray(interpreter.get_tensor(index)) for name, index in self._outputs.items()}
        except (RuntimeError, ValueError, MemoryError) as error:
            failed = error.with_traceback(None)
        del interpreter  # a caller keeps the error, and with it this frame: no error may keep the interpreter
        if failed is not None:
            raise self._failure(failed, "fetch")
        check_outputs(self.contract, outputs)
        return outputs

    def resize(self, shapes: Shapes) -> None:
        """Resize the input tensors and allocate: the interpreter has one plan at a time."""
        interpreter = self._open()
        check_shapes(self.contract, shapes)
        failed: Exception | None = None
        try:
            self._plan(interpreter, shapes)
        except (RuntimeError, ValueError, MemoryError) as error:
            failed = error.with_traceback(None)
        del interpreter  # as above
        if failed is not None:
            raise self._failure(failed, "resize")

    def interrupt(self) -> None:
        """End the call in flight before its next node, where the runtime exports a hook for that."""
        if self._hook is None:
            super().interrupt()
        else:
            self._hook.request()

    def counters(self) -> Counters:
        """One interpreter with its tensors, and its delegate if one took part."""
        live = 0 if self._interpreter is None else 1
        return Counters(
            live_contexts=live,
            registered_buffers=live * (len(self._inputs) + len(self._outputs)),
            live_delegates=live * (not self.delegate.fallback and self.delegate.actual != "builtin"),
            last_error=self._last_error,
        )

    def close(self) -> None:
        """Let go of the interpreter, which ends its graph first and its delegate last, once no call is in flight."""
        self._interpreter = None

    def _open(self) -> Any:
        if (interpreter := self._interpreter) is None:
            message = "the session is closed"
            raise SessionClosedError(message)
        return interpreter

    def _plan(self, interpreter: Any, shapes: Shapes) -> None:
        changed = [name for name, shape in self._shapes.items() if shapes[name] != shape]
        if not changed:
            return
        for name in changed:
            self._shapes[name] = None  # unknown until the allocation has worked: a failed one is tried again
            interpreter.resize_tensor_input(self._inputs[name], list(shapes[name]))
        interpreter.allocate_tensors()
        for name in changed:
            self._shapes[name] = shapes[name]

    def _failure(self, error: Exception, step: str) -> AdapterError:
        """Say what a failure was. The runtime's text holds every earlier one's too: only what is new is looked at."""
        text = str(error)
        new, self._reported = text[self._reported :] or text, len(text)
        failure: AdapterError
        if self._hook is not None and self._hook.requested and "cancel" in new:
            failure = RunInterruptedError("the run was interrupted")
        else:
            failure = RunError(f"the {step} failed: {type(error).__name__}")
        self._last_error = type(failure).__name__
        # The caller raises it: a frame that names the error it raises is a cycle, and what it holds outlives `close`.
        return failure


def _named(details: list[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Key tensors by name; where names are missing or repeat, the tensor's index is added."""
    names = [str(tensor["name"]) for tensor in details]
    return {
        name if name and names.count(name) == 1 else f"{name}#{int(tensor['index'])}": tensor
        for name, tensor in zip(names, details, strict=True)
    }


def _spec(name: str, tensor: Mapping[str, Any]) -> TensorSpec:
    dtype = np.dtype(tensor["dtype"])
    if dtype.kind not in "biufc":
        message = f"tensor {name!r} does not hold numbers"
        raise ModelLoadError(message)
    signature = tensor["shape_signature"] if len(tensor["shape_signature"]) else tensor["shape"]
    return TensorSpec(name=name, dtype=dtype.name, shape=tuple(None if dim < 0 else int(dim) for dim in signature))
