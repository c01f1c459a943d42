"""Pair the begin and end events of a history into calls, for the timeline and the pictures."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.history import Attr, Event

__all__ = ["Call", "pair_calls"]

_BEGIN, _END = "-begin", "-end"


class Call(msgspec.Struct, frozen=True):
    """One call: its name without `-begin`, its begin and, where it returned, its end."""

    name: str
    begin: Event
    end: Event | None


def pair_calls(events: Sequence[Event]) -> tuple[tuple[Call, ...], tuple[Event, ...]]:
    """Split a history into calls, in the order they began, and the events that are no part of a call.

    A begin and an end belong together where name and `attrs.call` agree (and the thread, for actors and leases carry no
    number). An end whose begin is not there is kept as an event of its own: nothing that was observed is dropped.
    """
    pending: dict[tuple[str, Attr, str], list[int]] = {}
    calls: list[Call] = []
    single: list[Event] = []
    for event in events:
        if event.kind.endswith(_BEGIN):
            name = event.kind.removesuffix(_BEGIN)
            pending.setdefault(_key(name, event), []).append(len(calls))
            calls.append(Call(name, event, None))
        elif event.kind.endswith(_END) and (opened := pending.get(_key(event.kind.removesuffix(_END), event))):
            position = opened.pop()
            calls[position] = msgspec.structs.replace(calls[position], end=event)
        else:
            single.append(event)
    return tuple(calls), tuple(single)


def _key(name: str, event: Event) -> tuple[str, Attr, str]:
    number = event.attrs.get("call")
    owner = event.thread if number is None else ""
    return name, number, f"{owner}/{event.slot}" if number is None else ""
