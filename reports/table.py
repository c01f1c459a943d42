"""The plain-text table that the command line prints for each target."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from harness.verdict import CellResult, RunRecord
from reports.escape import plain_text
from reports.facts import (
    caveats,
    control_note,
    counts_line,
    delegate_line,
    invariant_totals,
    model_label,
    reason,
    replay_command,
)
from reports.predicate import run_suite_digest

__all__ = ["table"]

_WIDTH = 120
_SCENARIO_HEADINGS = ("scenario", "verdict", "executions", "reason")
_INVARIANT_HEADINGS = ("invariant", "checked", "violated", "not judged in")


def table(run: RunRecord, *, signed: bool) -> str:
    """One target's result as text without colour or control characters; every UNKNOWN and every caveat is in it."""
    return "\n".join(line.rstrip() for line in _lines(run, signed=signed)) + "\n"


def _lines(run: RunRecord, *, signed: bool) -> Iterator[str]:
    yield plain_text(f"{run.verdict}  {run.target} / {run.service.name}: {counts_line(run)}")
    yield plain_text(f"  model     {model_label(run)} ({run.model_digest[:12]})")
    yield plain_text(f"  runtime   {run.runtime.name} {run.runtime.version}")
    yield from _wrapped("  delegate  ", delegate_line(run))
    yield plain_text(f"  suite     {run.suite.id} {run.suite.version} ({run_suite_digest(run)[:12]})")
    yield ""
    yield from _columns(_SCENARIO_HEADINGS, [_scenario(cell) for cell in run.cells], right=(2,))
    yield from _controls(run)
    yield ""
    yield from _invariants(run)
    yield from _failures(run)
    yield from _findings(run)
    yield ""
    for caveat in caveats(run, signed=signed):
        yield from _wrapped("  ! ", caveat)


def _scenario(cell: CellResult) -> tuple[str, ...]:
    return cell.scenario, str(cell.verdict), str(cell.executions), reason(cell)


def _invariants(run: RunRecord) -> Iterator[str]:
    totals = invariant_totals(run)
    idle = [total.id for total in totals if not total.checked and not total.unknown]
    rows = [
        (total.id, str(total.checked), str(total.violated), "; ".join(f"{name} ({why})" for name, why in total.unknown))
        for total in totals
        if total.id not in idle
    ]
    yield from _columns(_INVARIANT_HEADINGS, rows, right=(1, 2))
    if idle:
        yield from _wrapped("  UNKNOWN   ", f"because its premise never occurred: {', '.join(idle)}")


def _controls(run: RunRecord) -> Iterator[str]:
    for control in run.controls:
        yield from _wrapped("  control   ", f"{control.name}: {control_note(control)}")


def _failures(run: RunRecord) -> Iterator[str]:
    for cell in run.cells:
        for failure in cell.failures:
            yield ""
            yield plain_text(f"  {cell.scenario}, execution {failure.execution}:")
            for violation in failure.violations:
                yield from _wrapped("    ", f"{violation.invariant}: {violation.message}")
            for line in failure.blocked:
                yield from _wrapped("    blocked: ", line)
            # Never wrapped: it is there to be copied.
            yield plain_text(f"    {replay_command(failure)}")


def _findings(run: RunRecord) -> Iterator[str]:
    for cell in run.cells:
        for finding in cell.findings:
            yield from _wrapped("  finding   ", f"{cell.scenario}: {finding.kind}: {finding.message}")


def _columns(headings: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int]) -> Iterator[str]:
    cells = [[plain_text(text) for text in row] for row in (headings, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings) - 1)]
    for row in cells:
        fixed = [
            text.rjust(width) if column in right else text.ljust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=False))
        ]
        yield from _wrapped(f"  {'  '.join(fixed)}  ", row[-1])


def _wrapped(prefix: str, text: str) -> list[str]:
    """Wrap behind a prefix: later lines are indented as deep, and nothing is cut off."""
    room = max(_WIDTH - len(prefix), 40)
    lines = textwrap.wrap(plain_text(text), room, break_long_words=False, break_on_hyphens=False) or [""]
    return [plain_text(prefix) + lines[0], *(" " * len(prefix) + line for line in lines[1:])]
