"""From the record of a run to the statement that a receipt carries: a pure function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import UNSET

from harness.verdict import (
    CapacityRecord,
    CellResult,
    Control,
    CopyRecord,
    DelegateRecord,
    DeviceRecord,
    RunRecord,
    ServiceRecord,
    SlopeRecord,
    Verdict,
)
from reports import schema
from reports.digests import canonical, device_fingerprint, exact, suite_digest
from reports.evidence import evidence_digests

__all__ = ["predicate", "run_suite_digest", "statement", "statement_bytes"]


_STATEMENTS: Mapping[str, Literal["no explicit copy", "explicit copy", "undecided"]] = {
    "no explicit copy": "no explicit copy",
    "explicit copy": "explicit copy",
    "undecided": "undecided",
}


def predicate(run: RunRecord) -> dict[str, Any]:
    """The predicate as JSON data: lowerCamelCase, strings, integers and booleans, no floats and no nulls."""
    return _builtins(_predicate(run))


def statement(run: RunRecord) -> dict[str, Any]:
    """The in-toto Statement v1 as JSON data; its one subject is the model, by sha256."""
    subject = schema.Subject(name="model", digest=schema.Digest(sha256=run.model_digest))
    made = schema.Statement(
        type=schema.STATEMENT_TYPE, subject=(subject,), predicate_type=schema.PREDICATE_TYPE, predicate=_predicate(run)
    )
    return _builtins(made)


def statement_bytes(run: RunRecord) -> bytes:
    """The statement as canonical JSON: what is signed, and whose sha256 is the receipt's id."""
    return canonical(statement(run))


def run_suite_digest(run: RunRecord) -> str:
    """The digest of the suite as it ran: a run of part of a suite has another digest than the whole."""
    return suite_digest(run.suite.id, run.suite.version, ((cell.scenario, cell.scenario_digest) for cell in run.cells))


def _builtins(value: msgspec.Struct) -> dict[str, Any]:
    """Convert to JSON data, and check it against the schema: an instance is not checked when it is made."""
    data: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(value))
    msgspec.convert(data, type(value))
    return data


def _predicate(run: RunRecord) -> schema.Predicate:
    return schema.Predicate(
        receipt_version=schema.RECEIPT_VERSION,
        run_id=run.run_id,
        started_on=run.started_on,
        finished_on=run.finished_on,
        challenge=run.challenge if run.challenge is not None else UNSET,
        mode=run.mode,
        attempt=run.attempt,
        previous_receipt=run.previous_receipt if run.previous_receipt is not None else UNSET,
        interrupted=run.interrupted,
        runtime=schema.Runtime(
            name=run.runtime.name,
            version=run.runtime.version,
            build=run.runtime.build,
            artifacts=run.runtime.artifacts,
            options=_settings(run.runtime.options),
        ),
        delegate=_delegate(run.delegate),
        device=_device(run.device),
        service=_service(run.service),
        copies=tuple(_copy(each) for each in run.measured.copies) or UNSET,
        capacity=UNSET if run.measured.capacity is None else _capacity(run.measured.capacity),
        suite=schema.Suite(id=run.suite.id, version=run.suite.version, digest=run_suite_digest(run)),
        scenarios=tuple(_scenario(cell) for cell in run.cells),
        controls=tuple(_control(control) for control in run.controls),
        counts=_counts(run),
        verdict=str(run.verdict),
        harness=schema.Harness(
            version=run.harness.version,
            source_digest=run.harness.source_digest,
            dirty="unknown" if run.harness.dirty is None else run.harness.dirty,
            python=run.harness.python,
        ),
        evidence=tuple(schema.Evidence(name=name, sha256=digest) for name, digest in evidence_digests(run)),
    )


def _delegate(record: DelegateRecord) -> schema.Delegate:
    return schema.Delegate(
        requested=record.requested,
        actual=record.actual,
        graph_nodes=record.graph_nodes,
        placement=tuple(
            schema.Placement(on=part.on, nodes=part.nodes, partitions=part.partitions) for part in record.placement
        ),
        fallback=record.fallback,
        fallback_events=record.fallback_events,
        init_error=record.init_error if record.init_error is not None else UNSET,
        evidence=record.evidence,
    )


def _device(record: DeviceRecord) -> schema.Device:
    cpu = schema.Cpu(
        arch=record.cpu_arch, model=record.cpu_model, cores=record.cpu_cores, isa=tuple(sorted(record.cpu_isa))
    )
    fingerprint = device_fingerprint(
        device_class=record.device_class,
        os=record.os,
        cpu=_builtins(cpu),
        memory_mib=record.memory_mib,
        accelerators=record.accelerators,
        virtualized=record.virtualized,
    )
    return schema.Device(
        device_class=record.device_class,
        os=record.os,
        kernel=record.kernel,
        cpu=cpu,
        memory_mib=record.memory_mib,
        accelerators=record.accelerators,
        cgroup_limits=record.cgroup_limits,
        virtualized=record.virtualized,
        fingerprint=fingerprint,
    )


def _service(record: ServiceRecord) -> schema.Service:
    return schema.Service(
        name=record.name,
        source_digest=record.source_digest,
        kind=record.kind,
        capacity=record.capacity,
        slots=record.slots,
        overflow=record.overflow,
        close_behaviour=record.close_behaviour,
        delegate_behaviour=record.delegate_behaviour,
        capabilities=tuple(sorted(record.capabilities)),
        configuration=_settings(record.configuration),
    )


def _copy(record: CopyRecord) -> schema.CopyEntry:
    return schema.CopyEntry(
        how=record.how,
        statement=_STATEMENTS[record.statement],
        reason=record.reason,
        same_handle=record.same_handle,
        hand_over=_slope(record.hand_over),
        copy=_slope(record.copy),
        sizes=record.sizes,
        not_observed=record.not_observed,
    )


def _slope(record: SlopeRecord | None) -> schema.SlopeEntry | msgspec.UnsetType:
    if record is None:
        return UNSET
    return schema.SlopeEntry(
        median_ps_per_byte=record.median,
        low_ps_per_byte=record.low,
        high_ps_per_byte=record.high,
        rounds=record.rounds,
    )


def _capacity(record: CapacityRecord) -> schema.CapacityEntry:
    return schema.CapacityEntry(
        weights_bytes=record.weights,
        base_bytes=record.base,
        per_unit_bytes=record.per_unit,
        reserve_bytes=record.reserve,
        unit=record.unit,
        evidence=record.evidence,
        not_observed=record.not_observed,
    )


def _settings(values: Mapping[str, bool | int | str]) -> dict[str, bool | int | str]:
    return {name: exact(value) for name, value in values.items()}


def _scenario(cell: CellResult) -> schema.ScenarioEntry:
    violations = dict.fromkeys(
        (violation.invariant, failure.token) for failure in cell.failures for violation in failure.violations
    )
    return schema.ScenarioEntry(
        id=cell.scenario,
        digest=cell.scenario_digest,
        model=cell.model_digest,
        next_model=cell.next_model_digest or UNSET,
        requires=cell.requires,
        native=cell.native,
        oracle=cell.oracle,
        verdict=str(cell.verdict),
        executions=cell.executions,
        exploration=_exploration(cell),
        faults=tuple(schema.Fault(kind=fault.kind, injected=fault.injected) for fault in cell.faults),
        process_looks=cell.process_looks or UNSET,
        invariants=tuple(
            schema.Invariant(
                id=tally.id, checked=tally.checked, violated=tally.violated, unknown=tally.unknown or UNSET
            )
            for tally in cell.invariants
        ),
        violations=tuple(schema.ViolationEntry(invariant=name, replay_token=token) for name, token in violations),
    )


def _exploration(cell: CellResult) -> schema.Exploration | msgspec.UnsetType:
    if cell.exploration is None:
        return UNSET
    return schema.Exploration(
        strategy=cell.exploration.strategy,
        seed=cell.exploration.seed,
        bound=cell.exploration.bound,
        exhausted=cell.exploration.exhausted,
    )


def _control(control: Control) -> schema.ControlEntry:
    return schema.ControlEntry(
        name=control.name,
        expected=str(control.expected),
        invariant=control.invariant,
        scenario=_scenario(control.cell),
    )


def _counts(run: RunRecord) -> Mapping[str, int]:
    found = Counter(str(cell.verdict) for cell in run.cells)
    return {str(verdict): found[str(verdict)] for verdict in Verdict}
