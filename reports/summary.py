"""The Markdown summary for a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.verdict import RunRecord
from reports.escape import markdown_code, markdown_text
from reports.facts import caveats, control_note, counts_line, identity, invariant_totals, reason, replay_command

__all__ = ["summary"]


def summary(run: RunRecord, *, signed: bool) -> str:
    """Verdict and caveats, failures with their replay commands, scenarios, invariants, controls, and what ran."""
    return "\n".join(_lines(run, signed=signed)) + "\n"


def _lines(run: RunRecord, *, signed: bool) -> Iterator[str]:
    yield f"## racegate: {run.verdict} on {markdown_text(run.target)}, service {markdown_text(run.service.name)}"
    yield ""
    yield f"{counts_line(run)}."
    yield ""
    for caveat in caveats(run, signed=signed):
        yield f"- {markdown_text(caveat)}"
    yield from _failures(run)
    yield from _table("Scenarios", ("scenario", "verdict", "executions", "reason"), _scenarios(run))
    yield from _table("Invariants", ("invariant", "premise occurred", "violated", "not judged in"), _invariants(run))
    yield from _table("Controls", ("control", "came out"), [(each.name, control_note(each)) for each in run.controls])
    yield from _table("Findings", ("scenario", "kind", "finding"), _findings(run))
    yield from _table("What ran", ("", ""), list(identity(run)))


def _failures(run: RunRecord) -> Iterator[str]:
    failing = [(cell, failure) for cell in run.cells for failure in cell.failures]
    if failing:
        yield from ("", "### Failures")
    for cell, failure in failing:
        yield ""
        yield f"**{markdown_text(cell.scenario)}**, execution {failure.execution}:"
        yield ""
        for violation in failure.violations:
            yield f"- {markdown_code(violation.invariant)}: {markdown_text(violation.message)}"
        for line in failure.blocked:
            yield f"- blocked: {markdown_text(line)}"
        yield from ("", "```sh", replay_command(failure), "```")


def _scenarios(run: RunRecord) -> list[tuple[str, ...]]:
    return [(cell.scenario, str(cell.verdict), str(cell.executions), reason(cell)) for cell in run.cells]


def _invariants(run: RunRecord) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for total in invariant_totals(run):
        unknown = "; ".join(f"{scenario} ({why})" for scenario, why in total.unknown)
        note = unknown or ("" if total.checked else "its premise never occurred: UNKNOWN")
        rows.append((total.id, str(total.checked), str(total.violated), note))
    return rows


def _findings(run: RunRecord) -> list[tuple[str, ...]]:
    return [(cell.scenario, finding.kind, finding.message) for cell in run.cells for finding in cell.findings]


def _table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if not rows:
        return
    yield from ("", f"### {title}", "")
    yield f"| {' | '.join(headings)} |"
    yield f"|{'---|' * len(headings)}"
    for row in rows:
        yield f"| {' | '.join(markdown_text(text) for text in row)} |"
