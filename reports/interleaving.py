"""A failing execution as text: one column for each thread, one row for each observed step, in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.history import Event
from harness.verdict import Failure

__all__ = ["interleaving"]

MOST_ROWS = 60
_LEFT_OUT = ("actor-", "lease-", "fetch-", "state", "gate-opened", "quiescent", "stuck", "unheld")
"""Kinds that explain nothing which their neighbours do not."""
_HARNESS = frozenset({"harness", "sweep"})


def interleaving(failure: Failure) -> str:
    """Draw the execution up to the last event that proves a violation; those events are marked with `>`.

    A step that nobody interrupted stands in one row; one that others came into has a row for its begin (`...` after
    it) and one for its end (`...` before it). Threads that could never move again follow, each with what it waits
    for.
    """
    proof = {seq for violation in failure.violations for seq in violation.events}
    last = max(proof, default=len(failure.events))
    shown = [event for event in failure.events if event.seq <= last and not event.kind.startswith(_LEFT_OUT)]
    rows = _rows(shown, proof)
    dropped = max(0, len(rows) - MOST_ROWS)
    rows = rows[dropped:]
    threads = list(dict.fromkeys(thread for _, thread, _ in rows))
    widths = {thread: max(len(thread), *(len(text) for _, who, text in rows if who == thread)) for thread in threads}
    lines = ["  " + "  ".join(thread.ljust(widths[thread]) for thread in threads)]
    if dropped:
        lines.append(f"  ({dropped} earlier steps are not shown)")
    for marked, thread, text in rows:
        cells = (text if thread == each else "" for each in threads)
        lines.append(
            f"{'>' if marked else ' '} "
            + "  ".join(cell.ljust(widths[each]) for cell, each in zip(cells, threads, strict=True))
        )
    lines += [f"  {line}" for line in failure.blocked]
    return "\n".join(line.rstrip() for line in lines)


def _rows(events: Sequence[Event], proof: set[int]) -> list[tuple[bool, str, str]]:
    """(marked, thread, text) of each row."""
    rows: list[tuple[bool, str, str]] = []
    position = 0
    while position < len(events):
        event = events[position]
        following = events[position + 1] if position + 1 < len(events) else None
        marked = event.seq in proof
        if following is not None and _ends(event, following):
            rows.append((marked or following.seq in proof, event.thread, f"{_begin(event)}{_answer(following)}"))
            position += 2
            continue
        rows.append((marked, _who(event), _text(event)))
        position += 1
    return rows


def _who(event: Event) -> str:
    return "afterwards" if event.thread in _HARNESS else event.thread


def _ends(begin: Event, end: Event) -> bool:
    if not begin.kind.endswith("-begin") or begin.thread != end.thread:
        return False
    return end.kind == f"{begin.kind.removesuffix('-begin')}-end" and begin.attrs.get("call") == end.attrs.get("call")


def _text(event: Event) -> str:
    if event.kind.endswith("-begin"):
        return f"{_begin(event)} ..."
    if event.kind.endswith("-end"):
        return f"... {_name(event)}{_answer(event)}"
    attrs: Mapping[str, object] = event.attrs
    what = {
        "deliver": f"{attrs.get('outcome')} {attrs.get('output') or attrs.get('error') or ''}".strip(),
        "expectation": str(attrs.get("says")),
        "fault-injected": f"fault: {attrs.get('fault')}",
        "held": f"held at {attrs.get('point')}",
        "output-rechecked": "output unchanged" if attrs.get("same") else "output CHANGED",
        "pending": "still pending",
    }.get(event.kind, event.kind)
    return " ".join(part for part in (event.task, event.session, what) if part)


def _begin(event: Event) -> str:
    return " ".join(part for part in (_name(event), event.task, event.session) if part)


def _name(event: Event) -> str:
    name = event.kind.removesuffix("-begin").removesuffix("-end")
    return {"service-close": "close", "service-open": "open"}.get(name, name)


def _answer(event: Event) -> str:
    """What came of a call, where that says something: `ok` and a plain return do not."""
    answer = event.attrs.get("answer")
    said = event.attrs.get("error") or event.attrs.get("refusal") or answer
    return "" if said in {None, "ok", "returned"} else f": {said}"
