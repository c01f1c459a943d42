"""What is measured of a target and a service outside of any execution: copies at the hand-over, and memory.

In a worker in which the engine is not installed, so that threads and clocks are the system's own.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeAlias

import numpy as np

from adapters.base import (
    Adapter,
    AdapterError,
    Array,
    Arrays,
    Contract,
    Counters,
    DelegateTruth,
    Identity,
    ModelFile,
    Session,
    Sharing,
    TensorSpec,
)
from harness.execution.services import load_factory
from harness.models.registry import load_adapter
from harness.oracle.expectations import Recipe
from harness.oracle.inputs import further_shapes, make_input, recipe_shapes
from harness.service.capacity_estimate import CapacityEstimate
from harness.service.config import ServiceConfig
from harness.service.copy_evidence import NOT_OBSERVED, CopyEvidence, Slope, measure_copies
from harness.service.leases import Lease, submit_leased
from harness.service.memory_source import ProcessMemory
from harness.suite.plan import ServiceSpec, TargetSpec
from harness.verdict import CapacityRecord, CopyRecord, Measured, SlopeRecord

__all__ = ["measure"]

SIZES = (1 << 16, 1 << 20, 1 << 22, 1 << 24)
"""In bytes. The largest takes a plain copy far longer than two threads take to hand over."""
ROUNDS = 9
PATIENCE = 5.0
"""Seconds for one hand-over."""
MORE_SESSIONS = 2
_PS_PER_NS = 1_000
_CONTRACT = Contract(
    inputs=(TensorSpec(name="x", dtype="uint8", shape=(None,)),),
    outputs=(TensorSpec(name="y", dtype="uint8", shape=(1,)),),
)
_Submit: TypeAlias = Callable[[Any, Array], "Future[Any]"]


def measure(target: TargetSpec, service: ServiceSpec, model: ModelFile) -> Measured:
    """Measure; what cannot be is said to be undecided, or left out. Never raises for what the service does."""
    return Measured(_copies(service), _capacity(load_adapter(target.adapter), target, service, model))


def _copies(spec: ServiceSpec) -> tuple[CopyRecord, ...]:
    ways: dict[str, _Submit] = {"submit": _submit}
    if "leases" in load_factory(spec).capabilities:
        ways["lease"] = _lend
    return tuple(_copy_record(spec, how, submit) for how, submit in ways.items())


def _copy_record(spec: ServiceSpec, how: str, submit: _Submit) -> CopyRecord:
    try:
        evidence = _hand_overs(spec, submit)
    except Exception as error:  # noqa: BLE001 - what a user's service does with the probe is an answer
        reason = f"the service did not hand the probe over: {type(error).__name__}"
        return CopyRecord(how, "undecided", reason, not_observed=NOT_OBSERVED)
    return CopyRecord(
        how,
        evidence.statement,
        evidence.reason,
        evidence.same_handle,
        _slope(evidence.hand_over),
        _slope(evidence.copy),
        evidence.sizes,
        evidence.not_observed,
    )


def _hand_overs(spec: ServiceSpec, submit: _Submit) -> CopyEvidence:
    probe = _Probe()
    config = ServiceConfig(capacity=spec.capacity, slots=spec.slots, options=spec.options)
    service = load_factory(spec).make(probe.open, config)
    try:

        def hand_over(array: Array) -> Array:
            submit(service, array).result(PATIENCE)
            return probe.seen

        return measure_copies(hand_over, SIZES, ROUNDS)
    finally:
        service.close()


def _submit(service: Any, array: Array) -> Future[Any]:
    encode = getattr(service, "encode", None)
    arrays = {"x": array}
    return service.submit(arrays if encode is None else encode(arrays))


def _lend(service: Any, array: Array) -> Future[Any]:
    return submit_leased(service, Lease({"x": array}))


def _slope(slope: Slope) -> SlopeRecord:
    median, low, high = (round(each * _PS_PER_NS) for each in (slope.median, slope.low, slope.high))
    return SlopeRecord(median, low, high, slope.rounds)


class _Probe:
    """Opens sessions that run nothing and keep the array that they were given."""

    def __init__(self) -> None:
        self.seen: Array = np.empty(0, np.uint8)

    def open(self, *, fallback: bool = False) -> Session:
        """See `adapters.base.Opener`."""
        del fallback
        return _ProbeSession(self)


class _ProbeSession(Session):
    """A session of no runtime: it is there for what happens before it."""

    contract = _CONTRACT
    identity = Identity(runtime="none", version="", build="", artifacts={})
    delegate = DelegateTruth(
        requested="none", actual="none", graph_nodes=0, placement=(), evidence="there is no runtime"
    )
    sharing = Sharing.EXCLUSIVE

    def __init__(self, probe: _Probe) -> None:
        self._probe = probe

    def call(self, inputs: Arrays) -> _ProbeCall:
        return _ProbeCall(self._probe, inputs)

    def counters(self) -> Counters:
        return Counters()

    def close(self) -> None:
        """There is nothing to release."""


class _ProbeCall:
    def __init__(self, probe: _Probe, inputs: Arrays) -> None:
        self._probe = probe
        self._inputs = inputs

    def bind(self) -> None:
        self._probe.seen = self._inputs["x"]

    def invoke(self) -> None:
        """Nothing runs."""

    def fetch(self) -> dict[str, Array]:
        return {"y": np.zeros(1, np.uint8)}


def _capacity(adapter: Adapter, target: TargetSpec, service: ServiceSpec, model: ModelFile) -> CapacityRecord | None:
    """Estimate what a service needs from what sessions of the target took; None where that cannot be known."""
    delegate = target.delegate or adapter.default_delegate
    sessions: list[Session] = []
    try:
        sessions.append(adapter.open(model, delegate, target.options))
        sizes = _request_bytes(sessions[0], target)
        first = _resident()
        for _ in range(MORE_SESSIONS):
            sessions.append(adapter.open(model, delegate, target.options))
            _request_bytes(sessions[-1], target)
        last = _resident()
    except AdapterError:
        return None
    finally:
        for session in sessions:
            session.close()
    if first is None or last is None:
        return None
    each = max(0, last - first) // MORE_SESSIONS
    estimate = _estimate(weights=first + each * (service.slots - 1), sizes=sizes)
    return CapacityRecord(
        estimate.weights,
        estimate.base,
        estimate.per_unit,
        estimate.reserve,
        unit="a step of every dynamic dimension" if len(sizes) > 1 else "none",
        evidence=f"resident memory with one session that has run, and growth over {MORE_SESSIONS} more; bytes of one "
        "request's inputs and outputs",
        not_observed=("memory on a device", "what a run needs for its own length and gives back"),
    )


def _estimate(weights: int, sizes: list[tuple[int, int]]) -> CapacityEstimate:
    """From (length, bytes) of one request, and of a longer one where the length may vary."""
    (length, least), *more = sizes
    per_unit = max(0, (more[0][1] - least) // (more[0][0] - length)) if more else 0
    return CapacityEstimate(weights=weights, base=max(1, least - per_unit * length), per_unit=per_unit)


def _request_bytes(session: Session, target: TargetSpec) -> list[tuple[int, int]]:
    """Run a request of the first shape, and of the largest where there are several: its length and its bytes."""
    contract = session.contract
    first = recipe_shapes(contract, target.inputs)
    sizes: list[tuple[int, int]] = []
    for shapes in (first, *further_shapes(contract, target.inputs)[:1]):
        inputs = make_input(contract, Recipe("unit", 0, shapes, target.inputs))
        outputs = session.run(inputs)
        steps = sum(size - base for name in shapes for size, base in zip(shapes[name], first[name], strict=True))
        needed = sum(array.nbytes for arrays in (inputs, outputs) for array in arrays.values())
        if not sizes or steps > 0:
            sizes.append((1 + steps, needed))
    return sizes


def _resident() -> int | None:
    reading = ProcessMemory().read()
    return None if reading.is_peak else reading.used
