"""A failing execution as text: one column for each thread, one row for each observed step, in their order.

Beside each step stands the line of the service or the scenario that it came from. Where a thread was stopped, and
where it went on, has a row of its own.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from harness.verdict import Failure
from reports.rows import AT_REST, Row, rows_of
from reports.source_column import SourceColumn

__all__ = ["interleaving"]

MOST_ROWS = 60
WIDTH = 120
_NARROWEST = 9
_GAP = "  "


def interleaving(failure: Failure) -> str:
    """Draw the execution up to the last event that proves a violation; those events are marked with `>`.

    A step that nobody interrupted stands in one row; one that others came into has a row for its begin (`...` after
    it) and one for its end (`...` before it). With the source column it is at most 120 characters wide for as many
    threads as leave nine characters to each: eight or so.
    """
    rows = rows_of(failure)
    dropped = max(0, len(rows) - MOST_ROWS)
    rows = rows[dropped:]
    threads = sorted(dict.fromkeys(thread for row in rows for thread in row.cells), key=AT_REST.__eq__)
    source = SourceColumn([row.place for row in rows], failure.lines)
    gutter = max((len(row.number) for row in rows), default=0) + 2
    widths = _widths(rows, threads, WIDTH - gutter - source.least)
    left = gutter + sum(len(_GAP) + width for width in widths)
    lines = list(_table_row(" " * gutter, dict(zip(threads, threads, strict=True)), threads, widths, ""))
    if dropped:
        rows = [Row(cells={}, note=f"({dropped} earlier rows are not shown)"), *rows]
    for row in rows:
        if row.note:
            lines.append(" " * gutter + _GAP + row.note)
            continue
        head = f"{'>' if row.marked else ' '} {row.number.rjust(gutter - 2)}"
        lines += _table_row(head, row.cells, threads, widths, source.beside(row.place, WIDTH - left - len(_GAP)))
    return "\n".join(line.rstrip() for line in lines)


def _table_row(
    head: str, cells: dict[str, str], threads: Sequence[str], widths: Sequence[int], beside: str
) -> Iterator[str]:
    """A row of the table, in as many lines as its fullest cell needs."""
    wrapped = [
        textwrap.wrap(cells.get(thread, ""), width, break_on_hyphens=False)
        for thread, width in zip(threads, widths, strict=True)
    ]
    for number in range(max(1, *map(len, wrapped)) if wrapped else 1):
        parts = [
            (lines[number] if number < len(lines) else "").ljust(width)
            for lines, width in zip(wrapped, widths, strict=True)
        ]
        yield _GAP.join([head if number == 0 else " " * len(head), *parts, beside if number == 0 else ""])


def _widths(rows: Sequence[Row], threads: Sequence[str], room: int) -> list[int]:
    """As wide as the texts are, or narrower from the widest column on until they fit."""
    widths = [max([len(thread), *(len(row.cells.get(thread, "")) for row in rows)]) for thread in threads]
    while widths and sum(widths) + len(_GAP) * len(widths) > room and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return widths
