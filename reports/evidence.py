"""The evidence beside a receipt: the history of every failing execution, and the same for a trace viewer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from harness.history import Attr, Event
from harness.verdict import CellResult, Failure, RunRecord
from reports.calls import pair_calls
from reports.digests import canonical, exact, sha256_hex

__all__ = [
    "HISTORY_FILE",
    "TIMELINE_FILE",
    "evidence_digests",
    "evidence_files",
    "failures",
    "history_jsonl",
    "timeline_json",
]

HISTORY_FILE = "history.jsonl"
TIMELINE_FILE = "timeline.json"


def evidence_files(run: RunRecord) -> dict[str, bytes]:
    """The evidence by file name; the receipt holds the digest of each."""
    return {HISTORY_FILE: history_jsonl(run), TIMELINE_FILE: timeline_json(run)}


def failures(run: RunRecord) -> Iterator[tuple[str, CellResult, Failure]]:
    """Every failure with its cell and, for a control, the control's name (empty for a scenario of the suite)."""
    for cell in run.cells:
        for failure in cell.failures:
            yield "", cell, failure
    for control in run.controls:
        for failure in control.cell.failures:
            yield control.name, control.cell, failure


def history_jsonl(run: RunRecord) -> bytes:
    """One line that says which execution failed, then its events, one array a line, in the fields' order of `Event`.

    The history digest in the heading is the sha256 over the JSON array of the event lines that follow it.
    """
    lines: list[bytes] = []
    for control, cell, failure in failures(run):
        lines.append(canonical(_heading(control, cell, failure)))
        lines.extend(msgspec.json.encode(event, order="deterministic") for event in failure.events)
    return b"".join(line + b"\n" for line in lines)


def _heading(control: str, cell: CellResult, failure: Failure) -> dict[str, Any]:
    return {
        "scenario": cell.scenario,
        "control": control,
        "execution": failure.execution,
        "replayToken": failure.token,
        "historyDigest": failure.history_digest,
        "events": len(failure.events),
        "blocked": list(failure.blocked),
        "violations": [
            {"invariant": violation.invariant, "message": violation.message, "events": list(violation.events)}
            for violation in failure.violations
        ],
    }


def timeline_json(run: RunRecord) -> bytes:
    """Chrome trace format: a process for each failure, a track for each thread, asynchronous events with ids for calls.

    Calls are asynchronous (`b`, `e`) because they overlap. A trace viewer wants time that moves, and virtual time
    mostly stands still: `ts` is the event's position, one microsecond each; virtual time is `args.atNs`. `args.place`
    is the file and line that the event came from, never the line's text.
    """
    trace: list[dict[str, Any]] = []
    for number, (control, cell, failure) in enumerate(failures(run), 1):
        title = f"{control or cell.scenario} execution {failure.execution}"
        trace.extend(_process(number, title, failure))
    return canonical({"displayTimeUnit": "ns", "traceEvents": trace}) + b"\n"


def _process(pid: int, title: str, failure: Failure) -> Iterator[dict[str, Any]]:
    events = failure.events
    threads = {name: tid for tid, name in enumerate(dict.fromkeys(event.thread for event in events), 1)}
    yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": title}}
    for name, tid in threads.items():
        yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}
    calls, single = pair_calls(events)
    # A reader needs the pairs in time order: both halves are collected, then sorted by position.
    marks: list[tuple[Event, str, str, str]] = [(event, "n", event.kind, f"{pid}.{event.seq}") for event in single]
    for call in calls:
        identifier = f"{pid}.{call.begin.seq}"
        marks.append((call.begin, "b", call.name, identifier))
        if call.end is not None:
            marks.append((call.end, "e", call.name, identifier))
    for event, phase, name, identifier in sorted(marks, key=lambda mark: mark[0].seq):
        track = {"pid": pid, "tid": threads[event.thread]}
        yield {
            "ph": phase,
            "cat": "call",
            "name": name,
            "id": identifier,
            "ts": event.seq,
            "args": _args(event, failure.place(event)),
            **track,
        }


def _args(event: Event, place: str) -> dict[str, Attr]:
    known = {"task": event.task, "session": event.session, "slot": event.slot, "atNs": str(event.at_ns)}
    known["place"] = place or None
    attrs = {name: exact(value) for name, value in event.attrs.items()}
    return {**attrs, **{name: value for name, value in known.items() if value is not None}}


def evidence_digests(run: RunRecord) -> tuple[tuple[str, str], ...]:
    """The name and sha256 of each evidence file."""
    return tuple((name, sha256_hex(data)) for name, data in sorted(evidence_files(run).items()))
