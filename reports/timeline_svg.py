"""One execution as a picture: a lane for each thread, a bar for each call, time from left to right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from harness.history import Event
from harness.verdict import Failure
from reports.calls import Call, pair_calls
from reports.escape import html_text

__all__ = ["MAX_EVENTS", "describe", "timeline_svg", "visible_events"]

MAX_EVENTS = 400
"""More columns than this are slow to draw and too many to read; the rest is in history.jsonl."""
_COLUMN, _ROW, _LABEL, _TOP, _GAP = 26, 18, 130, 22, 10
_COLOURS = 8
_LEAD = 20


class _Bar(Struct, frozen=True):
    """A call with its lane's thread and how many calls on that thread enclose it."""

    call: Call
    depth: int


def visible_events(failure: Failure) -> tuple[Event, ...]:
    """The events that are drawn: all, or a window of MAX_EVENTS that holds the first violating event."""
    events = failure.events
    if len(events) <= MAX_EVENTS:
        return events
    marked = _violating(failure)
    first = next((place for place, event in enumerate(events) if event.seq in marked), len(events))
    start = max(0, min(first - _LEAD, len(events) - MAX_EVENTS))
    return events[start : start + MAX_EVENTS]


def timeline_svg(failure: Failure, identifier: str) -> str:
    """The picture as inline SVG; `identifier` makes its ids unique. Colours come from the page's style sheet."""
    events = visible_events(failure)
    calls, single = pair_calls(events)
    columns = {event.seq: place for place, event in enumerate(events)}
    bars = _stack(calls)
    lanes = _lanes(events, bars)
    width = _LABEL + _COLUMN * (len(events) + 1)
    height = _TOP + sum(rows * _ROW + _GAP for _, rows in lanes.values())
    marked = _violating(failure)
    parts = [
        _opening(identifier, width, height),
        f'<title id="{identifier}-t">Timeline of the failing execution</title>',
        f'<desc id="{identifier}-d">{len(lanes)} threads, {len(events)} events, listed as a table below.</desc>',
        *_ticks(events, height),
        *_lane_labels(lanes, width),
        *(_bar(bar, lanes, columns, width) for bar in bars),
        *(_point(event, lanes, columns) for event in single),
        *(_mark(event, lanes, columns, height) for event in events if event.seq in marked),
        "</svg>",
    ]
    return "\n".join(parts)


def _opening(identifier: str, width: int, height: int) -> str:
    return (
        f'<svg class="timeline" role="img" aria-labelledby="{identifier}-t {identifier}-d" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">'
    )


def _violating(failure: Failure) -> frozenset[int]:
    return frozenset(seq for violation in failure.violations for seq in violation.events)


def _stack(calls: Sequence[Call]) -> list[_Bar]:
    """Give each call the first row of its thread that is free: nested calls lie below the call that made them."""
    rows: dict[str, list[int]] = {}
    bars: list[_Bar] = []
    for call in calls:
        ends = rows.setdefault(call.begin.thread, [])
        depth = next((row for row, end in enumerate(ends) if end < call.begin.seq), len(ends))
        finish = call.end.seq if call.end is not None else 2**53
        ends[depth : depth + 1] = [finish]
        bars.append(_Bar(call, depth))
    return bars


def _lanes(events: Sequence[Event], bars: Sequence[_Bar]) -> dict[str, tuple[int, int]]:
    """Map each thread, in the order of first appearance, to the top of its lane and its number of rows."""
    depths: dict[str, int] = {event.thread: 1 for event in events}
    for bar in bars:
        thread = bar.call.begin.thread
        # One row more than there are bars, for the dots of events that are no calls.
        depths[thread] = max(depths[thread], bar.depth + 2)
    lanes: dict[str, tuple[int, int]] = {}
    top = _TOP
    for thread, rows in depths.items():
        lanes[thread] = (top, rows)
        top += rows * _ROW + _GAP
    return lanes


def _x(column: int) -> int:
    return _LABEL + _COLUMN * column + _COLUMN // 2


def _ticks(events: Sequence[Event], height: int) -> Iterator[str]:
    for column, event in enumerate(events):
        if column % 5 == 0:
            x = _x(column)
            yield f'<line class="tick" x1="{x}" y1="{_TOP - 6}" x2="{x}" y2="{height}"/>'
            yield f'<text class="seq" x="{x}" y="{_TOP - 9}">{event.seq}</text>'


def _lane_labels(lanes: dict[str, tuple[int, int]], width: int) -> Iterator[str]:
    for thread, (top, rows) in lanes.items():
        yield f'<rect class="lane" x="0" y="{top}" width="{width}" height="{rows * _ROW}"/>'
        label = f"{html_text(_short(thread, 17))}<title>{html_text(thread)}</title>"
        yield f'<text class="thread" x="6" y="{top + 13}">{label}</text>'


def _bar(bar: _Bar, lanes: dict[str, tuple[int, int]], columns: dict[int, int], width: int) -> str:
    begin, end = bar.call.begin, bar.call.end
    left = _x(columns[begin.seq]) - 6
    right = _x(columns[end.seq]) + 6 if end is not None else width - 2
    top = lanes[begin.thread][0] + bar.depth * _ROW + 2
    kind = "call" if end is not None else "call unfinished"
    label = _short(_name(bar.call), max((right - left - 6) // 6, 1))
    return (
        f'<g class="{kind} {_colour(begin.task)}"><title>{html_text(_tooltip(bar.call))}</title>'
        f'<rect x="{left}" y="{top}" width="{right - left}" height="{_ROW - 4}" rx="3"/>'
        f'<text x="{left + 4}" y="{top + 11}">{html_text(label)}</text></g>'
    )


def _point(event: Event, lanes: dict[str, tuple[int, int]], columns: dict[int, int]) -> str:
    top, rows = lanes[event.thread]
    x, y = _x(columns[event.seq]), top + rows * _ROW - _ROW // 2
    return (
        f'<g class="point {_colour(event.task)}"><title>{html_text(describe(event))}</title>'
        f'<circle cx="{x}" cy="{y}" r="5"/></g>'
    )


def _mark(event: Event, lanes: dict[str, tuple[int, int]], columns: dict[int, int], height: int) -> str:
    """A line through all lanes and a cross at the event: colour alone would not be seen by everybody."""
    x, top = _x(columns[event.seq]), lanes[event.thread][0]
    return (
        f'<g class="violating"><title>violating event {event.seq}: {html_text(describe(event))}</title>'
        f'<line x1="{x}" y1="{_TOP}" x2="{x}" y2="{height}"/>'
        f'<path d="M{x - 5} {top - 5}l10 10m0 -10l-10 10"/></g>'
    )


def _name(call: Call) -> str:
    return f"{call.name} {call.begin.task or ''}".strip()


def _tooltip(call: Call) -> str:
    returned = f"; {describe(call.end)}" if call.end is not None else "; never returned"
    return describe(call.begin) + returned


def describe(event: Event) -> str:
    """One event in words: kind, task, session, slot, attributes."""
    parts = [event.kind, *(part for part in (event.task, event.session, event.slot) if part)]
    attrs = " ".join(f"{name}={value}" for name, value in sorted(event.attrs.items()) if name != "call")
    return f"{event.seq} {' '.join(parts)} {attrs}".strip()


def _short(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: max(room - 1, 1)]}…"


def _colour(task: str | None) -> str:
    """Tasks take turns at eight colours: `t1` and `t9` share one, and each bar has its task written on it."""
    digits = (task or "").lstrip("t")[-4:]
    return f"task{int(digits) % _COLOURS}" if digits.isascii() and digits.isdigit() else "notask"
