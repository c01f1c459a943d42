"""The HTML report: one file that works offline, with nothing loaded from anywhere and no script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from harness.verdict import BAD, CellResult, Failure, RunRecord, Verdict
from reports.escape import html_text
from reports.facts import (
    caveats,
    control_note,
    counts_line,
    identity,
    invariant_totals,
    reason,
    replay_command,
)
from reports.page_style import STYLE
from reports.timeline_svg import describe, timeline_svg, visible_events

__all__ = ["html_page"]

# No script may run and nothing may be loaded, should an escape ever be missed.
_CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def html_page(run: RunRecord, *, signed: bool) -> bytes:
    """The whole page, in UTF-8. Everything that comes from the record is escaped."""
    title = html_text(f"racegate: {run.verdict} on {run.target}, service {run.service.name}")
    body = "\n".join(_body(run, signed=signed))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_CONTENT_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    ).encode()


def _body(run: RunRecord, *, signed: bool) -> Iterator[str]:
    yield f"<h1>{_verdict(run.verdict)} {html_text(run.target)}, service {html_text(run.service.name)}</h1>"
    yield f"<p>{html_text(counts_line(run))}</p>"
    notes = "".join(f"<li>{html_text(caveat)}</li>" for caveat in caveats(run, signed=signed))
    yield f'<section class="caveats" aria-label="What to know before believing the verdict"><ul>{notes}</ul></section>'
    yield _section("Scenarios", _scenarios(run))
    yield _section("Invariants", _invariants(run))
    yield _section("Controls", _controls(run))
    yield _section("What ran", _identity(run))
    yield from _findings(run)
    yield from _failures(run)


def _section(title: str, content: str) -> str:
    return f"<section>\n<h2>{title}</h2>\n{content}\n</section>"


def _verdict(verdict: Verdict) -> str:
    tone = "good" if verdict is Verdict.PASS else "bad" if verdict in BAD else "unsure"
    return f'<span class="verdict {tone}">{html_text(verdict)}</span>'


def _table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int] = ()) -> str:
    """A table with row and column headings; the cells of `rows` are HTML already."""
    head = "".join(f'<th scope="col"{_number(place, numbers)}>{text}</th>' for place, text in enumerate(headings))
    lines = "\n".join(f"<tr>{_cells(row, numbers)}</tr>" for row in rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{html_text(caption)}"><table>'
        f"<caption>{html_text(caption)}</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{lines}\n</tbody></table></div>"
    )


def _cells(row: Sequence[str], numbers: Sequence[int]) -> str:
    first, *rest = row
    cells = "".join(f"<td{_number(place, numbers)}>{text}</td>" for place, text in enumerate(rest, 1))
    return f'<th scope="row">{first}</th>{cells}'


def _number(place: int, numbers: Sequence[int]) -> str:
    return ' class="number"' if place in numbers else ""


def _scenarios(run: RunRecord) -> str:
    rows = [_scenario(number, cell) for number, cell in enumerate(run.cells)]
    headings = ("Scenario", "Verdict", "Executions", "Native calls", "Strategy", "Reason")
    return _table("Every scenario of the suite on this target and service", headings, rows, numbers=(2,))


def _scenario(number: int, cell: CellResult) -> tuple[str, ...]:
    explored = cell.exploration
    how = f"{explored.strategy}, seed {explored.seed}" if explored else "none"
    links = " ".join(
        f'<a href="#failure-{number}-{place}">execution {failure.execution}</a>'
        for place, failure in enumerate(cell.failures)
    )
    texts = (cell.native, how, reason(cell))
    native, strategy, why = (html_text(text) for text in texts)
    return (
        html_text(cell.scenario),
        _verdict(cell.verdict),
        str(cell.executions),
        native,
        strategy,
        f"{why} {links}".strip(),
    )


def _invariants(run: RunRecord) -> str:
    rows: list[tuple[str, ...]] = []
    for total in invariant_totals(run):
        unknown = "; ".join(f"{scenario}: {why}" for scenario, why in total.unknown)
        note = unknown or ("" if total.checked else "its premise never occurred, so nothing is known")
        state = Verdict.FAIL if total.violated else Verdict.UNKNOWN if note else Verdict.PASS
        rows.append((html_text(total.id), _verdict(state), str(total.checked), str(total.violated), html_text(note)))
    caption = "How often each invariant's premise occurred, over all scenarios"
    headings = ("Invariant", "State", "Premise occurred", "Violated", "Not judged in")
    return _table(caption, headings, rows, numbers=(2, 3))


def _controls(run: RunRecord) -> str:
    if not run.controls:
        return "<p>No control ran: nothing shows that the harness would have seen a fault here.</p>"
    rows = [
        (
            html_text(control.name),
            '<span class="good">as it must</span>' if control.as_expected else '<span class="bad">surprised</span>',
            html_text(control_note(control)),
        )
        for control in run.controls
    ]
    return _table("Cells on built-in models that must come out as stated", ("Control", "Result", "Came out"), rows)


def _identity(run: RunRecord) -> str:
    placed = "; ".join(
        f"{part.on}: {part.nodes} nodes in {part.partitions} partitions" for part in run.delegate.placement
    )
    artifacts = "; ".join(f"{name} {digest}" for name, digest in sorted(run.runtime.artifacts.items()))
    settings = {**run.runtime.options, **run.service.configuration}
    more = [
        ("placement", placed or "unknown"),
        ("native libraries", artifacts or "none"),
        ("settings", ", ".join(f"{name} = {value}" for name, value in sorted(settings.items())) or "none"),
        ("capabilities", ", ".join(run.service.capabilities) or "none"),
        ("processor", f"{run.device.cpu_model}; {' '.join(run.device.cpu_isa)}"),
    ]
    rows = [
        (html_text(label), f'<span class="digest">{html_text(text)}</span>') for label, text in (*identity(run), *more)
    ]
    return _table("Model, runtime, delegate, device, service, suite and harness", ("What", "Value"), rows)


def _findings(run: RunRecord) -> Iterator[str]:
    rows = [
        (html_text(cell.scenario), html_text(finding.kind), html_text(finding.message))
        for cell in run.cells
        for finding in cell.findings
    ]
    if rows:
        yield _section(
            "Findings", _table("What a person should know that is no violation", ("Scenario", "Kind", "Finding"), rows)
        )


def _failures(run: RunRecord) -> Iterator[str]:
    shown = [
        _failure(cell, failure, f"failure-{number}-{place}")
        for number, cell in enumerate(run.cells)
        for place, failure in enumerate(cell.failures)
    ]
    if shown:
        yield _section("Failures", "\n".join(shown))


def _failure(cell: CellResult, failure: Failure, identifier: str) -> str:
    violations = "".join(
        f"<li><strong>{html_text(violation.invariant)}</strong>: {html_text(violation.message)}</li>"
        for violation in failure.violations
    )
    blocked = "".join(f"<li>blocked: {html_text(line)}</li>" for line in failure.blocked)
    hidden = len(failure.events) - len(visible_events(failure))
    note = f"<p>{hidden} more events are in history.jsonl.</p>" if hidden else ""
    return (
        f'<article id="{identifier}">\n<h3>{html_text(cell.scenario)}, execution {failure.execution}</h3>\n'
        f"<ul>{violations}{blocked}</ul>\n<p>Run it again:</p>\n<pre>{html_text(replay_command(failure))}</pre>\n"
        f'<div class="scroll" tabindex="0" role="region" aria-label="Timeline of the interleaving">'
        f"{timeline_svg(failure, identifier)}</div>\n{note}"
        f"<details><summary>The same events as a table</summary>\n{_events(failure)}\n</details>\n"
        f'<p>History digest <span class="digest">{html_text(failure.history_digest)}</span></p>\n</article>'
    )


def _events(failure: Failure) -> str:
    marked = {seq for violation in failure.violations for seq in violation.events}
    lines = [
        f"<tr{_violating(event.seq in marked)}>"
        f'<th scope="row">{event.seq}</th><td>{html_text(event.thread)}</td><td>{html_text(event.task or "")}</td>'
        f"<td>{html_text(describe(event).partition(' ')[2])}</td><td>{html_text(failure.place(event))}</td></tr>"
        for event in visible_events(failure)
    ]
    head = "".join(f'<th scope="col">{heading}</th>' for heading in ("Seq", "Thread", "Task", "Event", "Place"))
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{chr(10).join(lines)}\n</tbody></table>"


def _violating(marked: bool) -> str:  # noqa: FBT001 - one caller, one attribute
    return ' class="violating"' if marked else ""
