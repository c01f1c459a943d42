"""Records for what could not be learned: a cell without a result, a target that did not come up."""

from __future__ import annotations

from harness.suite.plan import Cell, ServiceSpec, TargetSpec
from harness.supervisor.death import Death
from harness.supervisor.staff import Refusal
from harness.verdict import CellResult, DelegateRecord, DeviceRecord, RuntimeRecord, ServiceRecord, Verdict
from harness.worker.protocol import ScenarioRecord

__all__ = [
    "UNKNOWN",
    "cell_without_result",
    "reason_of",
    "unknown_delegate",
    "unknown_device",
    "unknown_runtime",
    "unknown_scenario",
    "unknown_service",
    "verdict_of",
]

UNKNOWN = "unknown"
NO_DIGEST = "0" * 64
"""Stands where a digest could not be learned; no file has it."""


def cell_without_result(cell: Cell, scenario: ScenarioRecord, verdict: Verdict, reason: str) -> CellResult:
    """A cell that gave no result, with the reason."""
    name, digest = cell.as_recorded(scenario.reference, scenario.digest)
    return CellResult(
        scenario=name,
        scenario_digest=digest,
        model_digest=cell.model_digest,
        verdict=verdict,
        reason=reason,
        cell_digest=cell.digest,
        requires=scenario.requires,
        exercises=scenario.exercises,
        native=scenario.native,
    )


def verdict_of(refusal: Refusal) -> Verdict:
    """What a refusal makes of a cell: a death is a result, everything else leaves it undecided."""
    return refusal.verdict if isinstance(refusal, Death) else Verdict.UNKNOWN


def reason_of(refusal: Refusal) -> str:
    """One phrase for a person."""
    if isinstance(refusal, Death):
        return f"the worker {refusal.how}"
    prefix = {
        "model": "the runtime does not load this model: ",
        "unavailable": "the runtime is not available: ",
        "protocol": "the worker refused a message: ",
        "defect": "a defect in the harness or in the code under test: ",
    }
    return f"{prefix.get(refusal.kind, '')}{refusal.error_class}: {refusal.message}"


def unknown_scenario(reference: str) -> ScenarioRecord:
    """A scenario that no worker lived to describe."""
    return ScenarioRecord(reference, NO_DIGEST, (), (), "atomic", 1)


def unknown_runtime(target: TargetSpec) -> RuntimeRecord:
    """A runtime that never answered."""
    return RuntimeRecord(target.adapter, UNKNOWN, UNKNOWN, {}, target.options)


def unknown_delegate(target: TargetSpec) -> DelegateRecord:
    """A delegate of which nothing was learned: unknown counts as a fallback."""
    return DelegateRecord(target.delegate or UNKNOWN, UNKNOWN, 0, (), UNKNOWN)


def unknown_device() -> DeviceRecord:
    """A device that no worker lived to describe."""
    return DeviceRecord(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, 0, (), 0, (), {}, UNKNOWN)


def unknown_service(spec: ServiceSpec) -> ServiceRecord:
    """A service that no worker lived to describe."""
    return ServiceRecord(
        name=spec.name,
        source_digest=NO_DIGEST,
        kind=UNKNOWN,
        capacity=spec.capacity,
        slots=spec.slots,
        overflow=UNKNOWN,
        close_behaviour=UNKNOWN,
        delegate_behaviour=UNKNOWN,
        capabilities=(),
        configuration=dict(spec.options),
    )
