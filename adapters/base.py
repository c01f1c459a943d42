"""The contract between racegate and an inference runtime.

An adapter binds one runtime. It opens sessions, checks every input against the model's contract before
native code sees it, and tells the truth about which delegate took part. Adapters know nothing of the harness.
"""

from __future__ import annotations

import functools
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from adapters.errors import (
    AdapterError,
    ContractError,
    DelegateInitError,
    ModelLoadError,
    OptionError,
    OutputContractError,
    RunError,
    RunInterruptedError,
    Scope,
    SessionClosedError,
    UnavailableError,
    scope_of,
)

__all__ = [
    "Adapter",
    "AdapterError",
    "Array",
    "Arrays",
    "Availability",
    "Call",
    "Contract",
    "ContractError",
    "Counters",
    "DelegateInitError",
    "DelegateTruth",
    "Grain",
    "Identity",
    "ModelFile",
    "ModelLoadError",
    "Opener",
    "OptionError",
    "Options",
    "OutputContractError",
    "Placement",
    "RunError",
    "RunInterruptedError",
    "Scope",
    "Session",
    "SessionClosedError",
    "Shapes",
    "Sharing",
    "StagedCall",
    "StagedSession",
    "TensorSpec",
    "UnavailableError",
    "check_inputs",
    "check_outputs",
    "check_shapes",
    "file_digest",
    "scope_of",
    "shapes_of",
]

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Mapping[str, Array]
Options: TypeAlias = Mapping[str, bool | int | str]
Shapes: TypeAlias = Mapping[str, tuple[int, ...]]
"""The shape of every input, by name."""


class Sharing(StrEnum):
    """What the runtime documents about several threads on one session."""

    EXCLUSIVE = "exclusive"
    CONCURRENT_RUN = "concurrent-run"


class Grain(StrEnum):
    """Where an interrupt takes effect: between graph nodes, or nowhere."""

    NODE = "node"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorSpec:
    """One input or output.

    `dtype` is a numpy name (`float32`); `shape` holds None for a dynamic dimension; arrays are in native byte order.
    """

    name: str
    dtype: str
    shape: tuple[int | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """The inputs and outputs of a model, in the runtime's order."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The runtime that ran: `artifacts` maps the base name of each native library to its sha256."""

    runtime: str
    version: str
    build: str
    artifacts: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """How many graph nodes one executor ran, in how many partitions."""

    on: str
    nodes: int
    partitions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegateTruth:
    """What took part in the work, as opposed to what was asked for.

    `evidence` says how it was learned; `unknown` counts as a fallback. `init_error` is an error class name, never text.
    """

    requested: str
    actual: str
    graph_nodes: int
    placement: tuple[Placement, ...]
    evidence: str
    init_error: str | None = None
    fallback: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """Live native resources of one session. `last_error` is a class name, never text."""

    live_contexts: int = 0
    registered_buffers: int = 0
    live_delegates: int = 0
    last_error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Availability:
    """What `probe` found. `why_not` and `install` are one line each, for a person."""

    importable: bool
    version: str = ""
    build: str = ""
    delegates: tuple[str, ...] = ()
    why_not: str = ""
    install: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """A model as bytes. `name` is for people and holds no folder; `suffix` is the format, as in `.onnx`."""

    name: str
    suffix: str
    data: bytes = field(repr=False)

    @property
    def digest(self) -> str:
        """The sha256 of the bytes, in hex."""
        return hashlib.sha256(self.data).hexdigest()


class Call(Protocol):
    """One run in three steps, each called once, in this order, on one thread.

    The call holds what belongs to the task, so that two calls share only what the runtime itself shares.
    """

    def bind(self) -> None:
        """Check the inputs against the contract and hand them to the runtime. Raises ContractError."""

    def invoke(self) -> None:
        """Run the model. Raises RunError or RunInterruptedError."""

    def fetch(self) -> dict[str, Array]:
        """Return the outputs as arrays that the caller owns. Raises OutputContractError or RunError."""
        ...


class Session(ABC):
    """A loaded, runnable model with its mutable state.

    Every method is called on the thread that owns the session, except `interrupt`, which any thread may call
    while a call is in flight, and `run` and `call` where `sharing` is `concurrent-run`.
    """

    contract: Contract
    identity: Identity
    delegate: DelegateTruth
    sharing: Sharing = Sharing.EXCLUSIVE
    interrupt_grain: Grain = Grain.NONE
    fresh_outputs: bool = False
    """Whether outputs have their memory to themselves though they do not own it: what does shows nobody a buffer."""

    @abstractmethod
    def call(self, inputs: Arrays) -> Call:
        """Start a call on these inputs, keyed by input name. Nothing is checked or copied before `bind`."""

    def run(self, inputs: Arrays) -> dict[str, Array]:
        """Run once: bind, invoke, fetch. Inputs and outputs are keyed by tensor name; outputs are owned copies."""
        call = self.call(inputs)
        call.bind()
        call.invoke()
        return call.fetch()

    def resize(self, shapes: Shapes) -> None:
        """Plan for inputs of these shapes ahead of the first call with them, between two calls.

        What a call changes the shape of is planned again by its `bind` in any case. Here nothing is done but to check
        the shapes: a runtime that plans inside the run itself has nothing to prepare. Raises ContractError for shapes
        that the contract does not have, RunError where the runtime cannot plan for them.
        """
        check_shapes(self.contract, shapes)

    def interrupt(self) -> None:
        """Ask the call in flight to end early, at the declared grain. With grain `none` this raises RunError."""
        message = "this session cannot be interrupted"
        raise RunError(message)

    @abstractmethod
    def counters(self) -> Counters:
        """Return the live native resources of this session."""

    @abstractmethod
    def close(self) -> None:
        """Release the session, then its delegate. A second close does nothing."""


class StagedSession(Protocol):
    """A session whose runtime has separate steps on shared buffers (TFLite tensors, IOBinding).

    The three methods work on the session's own buffers: whoever calls them must own the session from bind to fetch.
    """

    def bind(self, inputs: Arrays) -> None:
        """Write the inputs into the session's own input buffers."""

    def invoke(self) -> None:
        """Run on what the input buffers hold now."""

    def fetch(self) -> dict[str, Array]:
        """Copy what the output buffers hold now."""
        ...


class StagedCall:
    """A call on the session's own buffers: what two threads that share the session do to each other shows."""

    __slots__ = ("_inputs", "_session", "fetch", "invoke")

    def __init__(self, session: StagedSession, inputs: Arrays) -> None:
        self._session = session
        self._inputs = inputs
        self.invoke = session.invoke
        self.fetch = session.fetch

    def bind(self) -> None:
        """Check the inputs and write them into the session's buffers."""
        self._session.bind(self._inputs)


class Opener(Protocol):
    """What a service gets to open sessions with, on the thread that will own the session."""

    def __call__(self, *, fallback: bool = False) -> Session:
        """Open a session on the target's delegate, or, with `fallback`, on the plain CPU path.

        Raises ModelLoadError, DelegateInitError or UnavailableError.
        """
        ...


class Adapter(ABC):
    """The binding to one runtime. Importing the module never imports the runtime; `probe` and `open` do."""

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    """Model formats it loads, preferred first, as in `(".onnx",)`."""
    default_delegate: ClassVar[str]
    cpu_delegate: ClassVar[str]
    """What a service's declared fallback opens."""
    shared_state_options: ClassVar[Options] = {}
    """Options under which two threads on one session do share buffers: the positive control runs with them."""

    @abstractmethod
    def probe(self) -> Availability:
        """Say whether the runtime is here, which version, and which delegates it can be asked for. Never raises."""

    @abstractmethod
    def open(self, model: ModelFile, delegate: str, options: Options) -> Session:
        """Open a session.

        The option `fallback` (bool, default False) allows the CPU path when the delegate does not start; without it
        that raises DelegateInitError. Raises ModelLoadError for bytes that are no model,
        UnavailableError without a runtime, and OptionError for an option that the adapter does not have.
        """


@functools.cache
def file_digest(path: str) -> str:
    """The sha256 of a file in hex, read once in a process: for native libraries, which stay as they are."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_inputs(contract: Contract, inputs: Arrays) -> None:
    """Check dtype, byte order, rank, every dimension, that every input is there and no other. Raises ContractError."""
    wanted = {spec.name: spec for spec in contract.inputs}
    if missing := sorted(wanted.keys() - inputs.keys()):
        message = f"missing input {missing[0]!r}"
        raise ContractError(message)
    if extra := sorted(inputs.keys() - wanted.keys()):
        message = f"{len(extra)} input(s) that the model does not have"
        raise ContractError(message)
    for name, spec in wanted.items():
        if problem := _mismatch(spec, inputs[name]):
            message = f"input {name!r}: {problem}"
            raise ContractError(message)


def check_outputs(contract: Contract, outputs: Arrays) -> None:
    """Check the outputs as `check_inputs` checks the inputs. Raises OutputContractError."""
    for spec in contract.outputs:
        problem = _mismatch(spec, outputs[spec.name]) if spec.name in outputs else "missing"
        if problem:
            message = f"output {spec.name!r}: {problem}"
            raise OutputContractError(message)


def check_shapes(contract: Contract, shapes: Shapes) -> None:
    """Check that each input has a shape that the contract allows, and that there is no other. Raises ContractError."""
    wanted = {spec.name: spec for spec in contract.inputs}
    if wanted.keys() != shapes.keys():
        message = "shapes must be given for every input, and for no other"
        raise ContractError(message)
    for name, spec in wanted.items():
        if problem := _shape_mismatch(spec, shapes[name]):
            message = f"input {name!r}: {problem}"
            raise ContractError(message)


def shapes_of(arrays: Arrays) -> dict[str, tuple[int, ...]]:
    """The shape of each array, by name."""
    return {name: array.shape for name, array in arrays.items()}


def _mismatch(spec: TensorSpec, array: object) -> str:
    if not isinstance(array, np.ndarray):
        return f"expected a numpy array, got {type(array).__name__}"
    array = cast("Array", array)
    if array.dtype != np.dtype(spec.dtype):
        return f"expected {spec.dtype} in native byte order, got {array.dtype.str}"
    return _shape_mismatch(spec, array.shape)


def _shape_mismatch(spec: TensorSpec, shape: tuple[int, ...]) -> str:
    if len(shape) != len(spec.shape):
        return f"expected rank {len(spec.shape)}, got {len(shape)}"
    for axis, (want, got) in enumerate(zip(spec.shape, shape, strict=True)):
        if want is not None and want != got:
            return f"expected {want} in dimension {axis}, got {got}"
    return ""
