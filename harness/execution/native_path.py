"""How the sessions of a cell are opened through the native fault library, where a fault inside native code is armed."""

from __future__ import annotations

import gc
import importlib.util
from collections.abc import Iterable, Iterator

from adapters.base import Adapter, AdapterError, ModelFile, Session
from harness.faults.catalogue import FAMILIES
from harness.faults.native.build import NativeUnavailableError
from harness.faults.native.library import NativeFaults, UnverifiedRuntimeError
from harness.faults.native.passthrough import float_tensors, with_passthrough
from harness.observe.native import NativeStrikes
from harness.oracle.expectations import Expectations
from harness.oracle.inputs import make_input
from harness.oracle.reference import answer_of
from harness.suite.plan import TargetSpec
from harness.verdict import Finding

__all__ = ["NativePath", "NoNativePathError", "held_by", "native_faults"]

_MOST_TENSORS = 8
"""How many places in an ONNX graph are tried before it is given up."""
_LEFT = "native-left"


class NoNativePathError(Exception):
    """No fault can strike inside native code here. The text says why, in one line, for the receipt."""


def native_faults(names: Iterable[str]) -> tuple[str, ...]:
    """Those of the faults that strike inside native code."""
    return tuple(name for name in names if name in FAMILIES and FAMILIES[name].native is not None)


def held_by(names: Iterable[str]) -> bool:
    """Whether one of the faults holds calls inside native code."""
    return any(fault.native is not None and fault.native.kind == "hang" for fault in map(FAMILIES.__getitem__, names))


class NativePath:
    """Opens a target's sessions with the fault library in them: our delegate, or our operator in the graph.

    Raises NoNativePathError unless the model is known to answer through it, bit for bit, as the oracle said: a receipt
    must not blame a service for the way we broke the runtime. The library's state is the process's: only one execution
    at a time may use it, on the thread that holds the token.
    """

    def __init__(self, adapter: Adapter, target: TargetSpec, model: ModelFile, expectations: Expectations) -> None:
        self._adapter = adapter
        self._target = target
        self._tensor = ""
        try:
            library = NativeFaults.of(adapter.name)
        except NativeUnavailableError as error:
            raise NoNativePathError(str(error)) from error
        if library is None:
            message = f"no fault library is there for the native code of {adapter.name}"
            raise NoNativePathError(message)
        self._library = library
        self._choose(model, expectations)

    def open(self, model: ModelFile) -> Session:
        """Open a session with the library in it. Raises the adapter's errors."""
        delegate, given = self._target.delegate or self._adapter.default_delegate, model
        if self._tensor:
            data = with_passthrough(model.data, self._tensor)
            given = ModelFile(name=model.name, suffix=model.suffix, data=data)
        else:
            delegate = self._library.delegate
        options = {**self._target.options, **self._library.options(self._adapter.name)}
        return self._adapter.open(given, delegate, options)

    @property
    def note(self) -> Finding:
        """What a reader of the receipt must know of the sessions of this cell."""
        asked = self._target.delegate or self._adapter.default_delegate
        how = "with the fault operator in the graph" if self._tensor else f"on the fault delegate in place of {asked}"
        return Finding("native-library", f"sessions were opened {how}")

    def strikes(self) -> NativeStrikes:
        """What one execution strikes with. Everything is counted anew."""
        return NativeStrikes(self._library)

    def left(self, strikes: NativeStrikes) -> tuple[Finding, ...]:
        """What one execution should not have left, once every session of it has been closed and no call is in flight.

        A fault that was armed for a call and did not strike in it is named too: nothing was shown by it.
        """
        if strikes.live:
            gc.collect()  # what is only waiting for that is no leak
        live, counters = strikes.live, strikes.counters()
        strikes.end()
        found = [Finding("native-missed", f"{name} never reached native code") for name in sorted(set(strikes.missed))]
        if live:
            found.append(Finding(_LEFT, f"{live} native instance(s) are alive after every session was closed"))
        if counters.destroyed_in_use:
            found.append(Finding(_LEFT, "a native delegate was destroyed before what uses it"))
        if counters.freed_in_flight:
            found.append(Finding(_LEFT, "native code was freed while a run was in it"))
        return tuple(found)

    def _choose(self, model: ModelFile, expectations: Expectations) -> None:
        """Find the place in the graph through which the model still answers as it did. Raises NoNativePathError."""
        why = "the model has no float tensor that the fault operator could stand on"
        for tensor in self._places(model):
            self._tensor = tensor
            why = self._difference(model, expectations)
            if not why:
                return
        raise NoNativePathError(why)

    def _places(self, model: ModelFile) -> Iterator[str]:
        """The tensors to try; once without one, where the library is a delegate. Raises NoNativePathError."""
        name, asked = self._adapter.name, self._target.delegate
        if name != "onnxruntime":
            if asked.startswith("external:"):
                message = "the target has a delegate of its own, whose place the fault delegate would take"
                raise NoNativePathError(message)
            yield ""
            return
        if asked not in {"", self._adapter.cpu_delegate}:
            message = f"the fault operator runs on {self._adapter.cpu_delegate}, not on {asked}"
            raise NoNativePathError(message)
        if importlib.util.find_spec("onnx") is None:
            message = "the package onnx, which puts the fault operator into a model, is not installed"
            raise NoNativePathError(message)
        yield from float_tensors(model.data)[:_MOST_TENSORS]

    def _difference(self, model: ModelFile, expectations: Expectations) -> str:
        """What is otherwise with the library in it; empty if nothing is."""
        try:
            session = self.open(model)
        except UnverifiedRuntimeError as error:
            return str(error)
        except AdapterError as error:
            return f"the model does not open with the fault library in it ({type(error).__name__})"
        try:
            if session.delegate.fallback or not self._library.counters().live_kernels:
                return "the fault delegate takes no node of the model"
            return "" if expectations.unknown else _judged(session, expectations)
        except AdapterError as error:
            return f"the model does not run with the fault library in it ({type(error).__name__})"
        finally:
            session.close()


def _judged(session: Session, expectations: Expectations) -> str:
    """Run what the oracle ran, and say so if an answer is another."""
    for recipe, answer in zip(expectations.recipes, expectations.answers, strict=True):
        outputs = session.run(make_input(session.contract, recipe))
        if answer_of(outputs).whole != answer.whole:
            return "the model answers otherwise with the fault library in it, so its outputs cannot be judged"
    return ""
