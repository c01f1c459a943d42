"""What every report says about a run, said once: totals, reasons, commands, and what a PASS does not mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath, PureWindowsPath

from msgspec import Struct

from harness.verdict import CellResult, Control, Failure, RunRecord, Verdict
from reports.digests import sha256_hex
from reports.predicate import run_suite_digest, statement_bytes

__all__ = [
    "InvariantTotal",
    "caveats",
    "control_note",
    "counts_line",
    "delegate_line",
    "identity",
    "invariant_totals",
    "model_label",
    "reason",
    "receipt_id",
    "replay_command",
]


class InvariantTotal(Struct, frozen=True):
    """One invariant over all scenarios of a run. `unknown` holds (scenario, why) wherever it could not be judged."""

    id: str
    checked: int
    violated: int
    unknown: tuple[tuple[str, str], ...]


def replay_command(failure: Failure) -> str:
    """The one command that runs this execution again."""
    return f"racegate replay {failure.token}"


def receipt_id(run: RunRecord) -> str:
    """The receipt's id: the sha256 of the statement, signed or not."""
    return sha256_hex(statement_bytes(run))


def model_label(run: RunRecord) -> str:
    """The model's name without any folder: a path says who ran it and where."""
    name = run.model_name
    if name.startswith(("builtin:", "pkg:")):
        return name
    return PurePosixPath(PureWindowsPath(name).as_posix()).name


def invariant_totals(run: RunRecord) -> tuple[InvariantTotal, ...]:
    """Sum every invariant over the suite's scenarios; controls are not counted."""
    order = dict.fromkeys(tally.id for cell in run.cells for tally in cell.invariants)
    return tuple(_total(run, name) for name in sorted(order))


def _total(run: RunRecord, name: str) -> InvariantTotal:
    found = [(cell.scenario, tally) for cell in run.cells for tally in cell.invariants if tally.id == name]
    return InvariantTotal(
        name,
        sum(tally.checked for _, tally in found),
        sum(tally.violated for _, tally in found),
        tuple((scenario, tally.unknown) for scenario, tally in found if tally.unknown),
    )


def reason(cell: CellResult) -> str:
    """Why a cell came out as it did: its own reason, else the first violation, else what could not be judged."""
    if cell.reason:
        return cell.reason
    for failure in cell.failures:
        for violation in failure.violations:
            return f"{violation.invariant}: {violation.message}"
    if cell.verdict is Verdict.NOT_APPLICABLE and cell.requires:
        return f"needs {', '.join(cell.requires)}, which the service does not declare"
    unjudged = [f"{tally.id}: {tally.unknown}" for tally in cell.invariants if tally.unknown]
    if unjudged and cell.verdict is not Verdict.PASS:
        return unjudged[0]
    return "" if cell.verdict is Verdict.PASS else "no reason was recorded"


def control_note(control: Control) -> str:
    """How a control came out against what it must come out as."""
    if control.as_expected:
        because = f" because of {control.invariant}" if control.invariant else ""
        return f"{control.cell.verdict}{because}, as it must"
    return f"{control.cell.verdict}, expected {control.expected} ({control.invariant or 'no invariant named'})"


def counts_line(run: RunRecord) -> str:
    """The verdicts with their counts, worst first, leaving out those that did not occur."""
    found = Counter(cell.verdict for cell in run.cells)
    order = [verdict for verdict in Verdict if verdict is not Verdict.PASS]
    return (
        ", ".join(f"{found[verdict]} {verdict}" for verdict in (*order, Verdict.PASS) if found[verdict])
        or "no scenario"
    )


def delegate_line(run: RunRecord) -> str:
    """The delegate that took part, with nodes, and whether it fell back."""
    delegate = run.delegate
    placed = ", ".join(f"{part.on} {part.nodes} of {delegate.graph_nodes} nodes" for part in delegate.placement)
    fell_back = delegate.fallback or delegate.fallback_events
    state = f"FELL BACK from {delegate.requested}" if fell_back else f"asked for {delegate.requested}"
    error = f", {delegate.init_error}" if delegate.init_error else ""
    return f"{delegate.actual} ({state}{error}); {placed or 'placement unknown'}; learned from: {delegate.evidence}"


def identity(run: RunRecord) -> Iterator[tuple[str, str]]:
    """Yield what ran on what, as (label, text)."""
    device, service, harness = run.device, run.service, run.harness
    dirty = {True: "with local changes", False: "unchanged", None: "unknown whether changed"}[harness.dirty]
    capacity = "unbounded" if service.capacity < 0 else f"capacity {service.capacity}"
    yield (
        "run",
        f"{run.run_id}, attempt {run.attempt}, {run.started_on} to {run.finished_on}, {run.mode}, seed {run.seed}",
    )
    yield "model", f"{model_label(run)}, sha256 {run.model_digest}"
    yield "runtime", f"{run.runtime.name} {run.runtime.version} ({run.runtime.build})"
    yield "delegate", delegate_line(run)
    yield (
        "device",
        f"{device.device_class}: {device.os}, {device.cpu_arch}, {device.cpu_cores} cores, {device.memory_mib} MiB",
    )
    yield (
        "service",
        f"{service.name} ({service.kind}), {capacity}, {service.slots} slot(s), overflow {service.overflow}",
    )
    yield from _measured(run)
    yield "suite", f"{run.suite.id} {run.suite.version}, digest {run_suite_digest(run)}"
    yield "harness", f"racegate {harness.version}, {dirty}, Python {harness.python}"
    yield "receipt", receipt_id(run)


def _measured(run: RunRecord) -> Iterator[tuple[str, str]]:
    """What was measured beside the executions, with what was not."""
    for copy in run.measured.copies:
        yield f"copies ({copy.how})", f"{copy.statement}: {copy.reason}; not observed: {', '.join(copy.not_observed)}"
    if (need := run.measured.capacity) is not None:
        each = f"{need.base} bytes a live request" + (f" and {need.per_unit} for {need.unit}" if need.per_unit else "")
        yield "memory", f"{need.weights / 2**20:.1f} MiB and {each}; not observed: {', '.join(need.not_observed)}"


def caveats(run: RunRecord, *, signed: bool) -> tuple[str, ...]:
    """What a reader must know before believing the verdict, the most important first."""
    return tuple(_caveats(run, signed=signed))


def _caveats(run: RunRecord, *, signed: bool) -> Iterator[str]:
    if not signed:
        yield "UNSIGNED: nobody vouches for this receipt, and the gate refuses it."
    if run.model_name.startswith("builtin:"):
        yield "CONTROL MODEL: this ran on a model that racegate brings along. It says nothing about your model."
    if run.interrupted:
        yield "INTERRUPTED: the run was cut short, so it is never a PASS."
    yield from _control_caveats(run)
    yield from _coverage_caveats(run)
    yield (
        "A PASS means that no violation was found in the executions listed, on this model, runtime, delegate, device "
        "and service configuration. It does not mean that there is none: schedules that were not explored are not "
        "covered."
    )


def _control_caveats(run: RunRecord) -> Iterator[str]:
    if not run.controls:
        yield "NO CONTROL ran beside this run: nothing shows that the harness would have seen a fault here."
    for control in run.controls:
        if not control.as_expected:
            yield (
                f"CONTROL {control.name}: {control_note(control)}. "
                f"The harness did not see what it must see, so no PASS counts."
            )


def _knows_versions_by_sessions(cell: CellResult) -> bool:
    return cell.verdict is Verdict.PASS and "model_switch" in cell.requires and not cell.next_model_digest


def _nobody_else_watched(run: RunRecord, cell: CellResult) -> bool:
    """Whether faults struck there and other processes may have been harmed. numpy has no device to share."""
    struck = any(fault.injected for fault in cell.faults)
    return struck and cell.verdict is Verdict.PASS and not cell.process_looks and run.runtime.name != "numpy"


def _coverage_caveats(run: RunRecord) -> Iterator[str]:
    if skipped := [cell.scenario for cell in run.cells if cell.verdict is Verdict.NOT_APPLICABLE]:
        yield f"NOT APPLICABLE, so not shown: {', '.join(skipped)}."
    if blind := [cell.scenario for cell in run.cells if _knows_versions_by_sessions(cell)]:
        yield f"ONE MODEL under every version's name, so that outputs do not tell versions apart: {', '.join(blind)}."
    if alone := [cell.scenario for cell in run.cells if _nobody_else_watched(run, cell)]:
        yield f"NO OTHER PROCESS on the device was watched while faults struck: {', '.join(alone)}."
    if run.mode == "controlled" and not any(cell.native == "held" and cell.executions for cell in run.cells):
        yield "Native calls ran one at a time: races inside the runtime's own code were not looked for."
    if alone := [cell.scenario for cell in run.cells if cell.oracle == "alone"]:
        yield f"Expected outputs came from the service alone, which hides what it gets wrong alone: {', '.join(alone)}."
