"""The rows of an interleaving: what was observed, and where the threads took turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.history import Event
from harness.verdict import Failure, Stop

__all__ = ["AT_REST", "Row", "rows_of"]

_LEFT_OUT = ("actor-", "lease-", "fetch-", "state", "gate-opened", "quiescent", "unheld")
"""Kinds that explain nothing which their neighbours do not."""
_HARNESS = frozenset({"harness", "sweep"})
_TELLS = "times out"
_MOST_TURNS = 12
"""Rows about turns between two events: loops that observe nothing take the same ones again and again."""
AT_REST = "at rest"
"""The column of what the harness itself saw once all was over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row: the event's number, if it is one, whether it proves a violation, a text by thread, and the place.

    A row with a `note` has nothing else.
    """

    cells: dict[str, str]
    note: str = ""
    place: str = ""
    number: str = ""
    marked: bool = False


def rows_of(failure: Failure) -> list[Row]:
    """The rows up to the last event that proves a violation."""
    proof = {seq for violation in failure.violations for seq in violation.events}
    last = max(proof, default=len(failure.events))
    # What is left at rest may go on while the harness looks at the outcomes.
    rest = next((event.seq for event in failure.events if event.kind in {"stuck", "quiescent"}), last)
    shown = [event for event in failure.events if event.seq <= last and _shown(event, proof)]
    maker = _Rows(failure, proof)
    stops = [stop for stop in failure.stops if stop.after <= min(last, rest) and stop.chosen not in _HARNESS]
    for position, event in enumerate(shown):
        while stops and stops[0].after <= event.seq:
            maker.stop(stops.pop(0))
        following = shown[position + 1] if position + 1 < len(shown) else None
        maker.event(event, following)
    return maker.rows


def _shown(event: Event, proof: set[int]) -> bool:
    if event.kind == "stuck" or (event.kind == "output-rechecked" and event.attrs["same"]):
        return event.seq in proof
    return not event.kind.startswith(_LEFT_OUT)


class _Rows:
    """Collects rows. An end that its begin's row has told of already is left out."""

    def __init__(self, failure: Failure, proof: set[int]) -> None:
        self.rows: list[Row] = []
        self._failure = failure
        self._proof = proof
        self._stands: dict[str, str] = {}
        self._stopped: set[str] = set()
        self._begun: Event | None = None
        self._turns = 0

    def event(self, event: Event, following: Event | None) -> None:
        """Add an event. A begin waits for the next one: if that is its own end, with no turn between, they are one."""
        begun, self._begun = self._begun, None
        self._stands[event.thread] = self._failure.place(event)
        if begun is not None and _ends(begun, event):
            self._add(begun, f"{_begin(begun)}{_answer(event)}", marked=event.seq in self._proof)
            return
        if begun is not None:
            self._add(begun, _text(begun))
        if following is not None and _ends(event, following):
            self._begun = event
        else:
            self._add(event, _text(event))

    def stop(self, stop: Stop) -> None:
        """Add a turn, if it tells more than the rows around it: a thread that was stopped, or a time-out that fired."""
        stopped = stop.how == "stops" and bool(stop.place)
        waits = stop.how in {"waits", "calls"} and bool(stop.place) and self._stands.get(stop.thread) != stop.place
        resumed = stop.chosen in self._stopped and stop.then == "goes on"
        if not (stopped or waits or resumed or stop.then == _TELLS):
            return
        if self._begun is not None:
            self._add(self._begun, _text(self._begun))
            self._begun = None
        cells: dict[str, str] = {}
        place = stop.resumes
        if stopped or waits:
            cells[stop.thread] = stop.how
            self._stands[stop.thread] = place = stop.place
        if stopped:
            self._stopped.add(stop.thread)
        self._stopped.discard(stop.chosen)
        line = f" :{stop.resumes.rpartition(':')[2]}" if stop.resumes and place != stop.resumes else ""
        cells[stop.chosen] = stop.then + line
        self._turns += 1
        if self._turns <= _MOST_TURNS:
            self.rows.append(Row(cells=cells, place=place))
        elif self._turns == _MOST_TURNS + 1:
            self.rows.append(Row(cells={}, note="(and so on)"))

    def _add(self, event: Event, text: str, *, marked: bool = False) -> None:
        place = self._failure.place(event)
        self._turns = 0
        who = AT_REST if event.thread in _HARNESS else event.thread
        marked = marked or event.seq in self._proof
        self.rows.append(Row(cells={who: text}, place=place, number=str(event.seq), marked=marked))


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
        "process-look": f"another process: {_worst(attrs)}",
        "stuck": "spins" if attrs.get("waits_for") == "spinning" else "stuck",
    }.get(event.kind, event.kind)
    return " ".join(part for part in (event.task, event.session, what) if part)


def _worst(look: Mapping[str, object]) -> object:
    """What it says that is not what it should, of a request in flight or a new one."""
    in_flight = look.get("in_flight") or "match"
    return look.get("fresh") if in_flight == "match" else in_flight


def _begin(event: Event) -> str:
    return " ".join(part for part in (_name(event), event.task, event.session) if part)


def _name(event: Event) -> str:
    name = event.kind.removesuffix("-begin").removesuffix("-end")
    return {"service-close": "close", "service-open": "open"}.get(name, name)


def _answer(event: Event) -> str:
    """What came of a call, where that says something: `ok`, a plain return and what one expects do not."""
    answer = event.attrs.get("answer")
    said = event.attrs.get("error") or event.attrs.get("refusal") or answer
    return "" if said in {None, "ok", "returned", "done", "accepted"} else f": {said}"
