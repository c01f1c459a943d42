"""Looks at what a service says of itself, as it stands in the history: numbers, names and classes, and no payload."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

from harness.execution.run_state import RunState
from harness.history import Attr

if TYPE_CHECKING:
    from harness.execution.client import ControlledClientTask

__all__ = ["look"]

INCIDENTS = "incidents"
_COUNTS = (
    "accepted", "waiting", "running", "live_tasks", "buffers", "open_slots", "expired", "replaced", "late_results",
)  # fmt: skip
_STAGES = frozenset({"accepted", "started", "returned"})
_WORDS = re.compile(r"[\w.:/-]{1,60}( [\w.:/-]{1,20}){0,2}")
"""What a text may be: a class, or a few words of the service's own. Errors' texts have more, or other signs."""
_DEPTH = 6


def look(state: RunState, service: Any) -> None:
    """Have the service say how it is: its counters, and with a ring its incidents and the evidence of every task.

    On the calling actor. What the service raises is data.
    """
    recorder = state.recorder
    call = recorder.next_call()
    recorder.record("look-begin", attrs={"call": call})
    end: dict[str, Attr] = {"call": call, "answer": "told"}
    try:
        end |= _counted(service.counters())
        if INCIDENTS in state.factory.capabilities and state.setup.events:
            end |= _Incidents(state, call).record(service)
    except Exception as error:  # noqa: BLE001 - a service that cannot say how it is has said so
        end |= {"answer": "raised", "error": type(error).__name__}
    recorder.record("look-end", attrs=end)


def _counted(counters: Any) -> dict[str, Attr]:
    """The counters that there are."""
    found: dict[str, Attr] = {name: int(getattr(counters, name)) for name in _COUNTS if hasattr(counters, name)}
    if hasattr(counters, "last_error"):
        found["last_error"] = None if counters.last_error is None else str(counters.last_error)
    return found


class _Incidents:
    """Records what a service with an event ring has kept. Its names of tasks become the history's."""

    def __init__(self, state: RunState, call: int) -> None:
        self._state = state
        self._call = call
        self._tasks: dict[object, str] = {}

    def record(self, service: Any) -> dict[str, Attr]:
        """Record each incident, and the evidence of each task; returns what is true of all of it."""
        handles = list(self._state.handles)  # first: what is accepted while the service is asked need not be told
        recent, frozen = service.recent(), service.frozen()
        told = [(handle, service.evidence(handle.future)) for handle in handles]
        distinct = self._name(handles)
        for incident in frozen:
            self._record_incident(incident)
        for handle, evidence in told:
            self._state.recorder.record("evidence", handle.task, attrs=self._said(evidence))
        times = [event.at for event in recent]
        return {
            "distinct": distinct,
            "ordered": times == sorted(times),
            "payload": not _is_plain(recent),
            "untold": self._untold(handles, recent),
        }

    def _untold(self, handles: Iterable[ControlledClientTask], recent: Sequence[Any]) -> str:
        """The tasks of whose acceptance the ring does not tell, while it has dropped nothing."""
        accepted = {event.task_id for event in recent if event.kind == "accepted"}
        untold = [handle.task for handle in handles if handle.future.task_id not in accepted]
        return " ".join(untold) if len(recent) < self._state.setup.events else ""

    def _name(self, handles: Iterable[ControlledClientTask]) -> bool:
        """Learn the service's names of the tasks; False if two have the same."""
        distinct = True
        for handle in handles:
            name = handle.future.task_id
            distinct &= self._tasks.setdefault(name, handle.task) == handle.task
        return distinct

    def _record_incident(self, incident: Any) -> None:
        own = incident.events[incident.own]
        times: dict[str, float] = {}
        for event in incident.events:
            if event.task_id == own.task_id and event.kind in _STAGES:
                times.setdefault(event.kind, event.at)
        said = self._said(incident.evidence)
        said |= {
            "error": str(incident.error),
            "how": str(own.kind),
            "names": self._tasks.get(own.task_id),
            "stages": " ".join(sorted(times, key=lambda kind: times[kind])),
            "payload": not _is_plain(incident),
        }
        self._state.recorder.record("incident", self._tasks.get(incident.evidence.task_id), attrs=said)

    def _said(self, evidence: Any) -> dict[str, Attr]:
        busy = " ".join(sorted(f"slot{use.slot}:{self._tasks.get(use.task_id)}" for use in evidence.busy))
        waits = evidence.waits_for
        return {
            "call": self._call,
            "at": _in_ns(evidence.at),
            "accepted_at": _in_ns(evidence.accepted_at),
            "started_at": _in_ns(evidence.started_at),
            "waits_for": waits and _slot(str(waits)),
            "held_by": _slot(str(evidence.buffers_held_by)),
            "queue_depth": int(evidence.queue_depth),
            "busy": busy,
        }


def _slot(name: str) -> str:
    """`slot 0`, as the history calls it."""
    return re.sub(r"^slot (\d+)$", r"slot\1", name)


def _in_ns(seconds: float | None) -> int | None:
    """A time of `time.monotonic`, which is virtual here, as `at_ns` has it."""
    return None if seconds is None else round(seconds * 1e9)


def _is_plain(value: Any, depth: int = _DEPTH) -> bool:
    """Whether this holds nothing but numbers, short names, and records and rows of such."""
    if value is None or isinstance(value, (bool, int, float, Enum)):
        return True
    if isinstance(value, str):
        return value == "" or _WORDS.fullmatch(value) is not None
    parts = _parts(value)
    return depth > 0 and parts is not None and all(_is_plain(part, depth - 1) for part in parts)


def _parts(value: Any) -> Iterable[Any] | None:
    """What a record or a row is made of; None for anything else."""
    if isinstance(value, Mapping):
        return [part for entry in value.items() for part in entry]  # pyright: ignore[reportUnknownVariableType] - whatever it maps
    if isinstance(value, (tuple, list, set, frozenset)):
        return value  # pyright: ignore[reportUnknownVariableType] - whatever stands in it
    if dataclasses.is_dataclass(value):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    return getattr(value, "__dict__", {}).values() if type(value).__module__ == "types" else None
