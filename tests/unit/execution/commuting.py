"""Lets neighbouring events of a history that are said to commute change places, and compares what the checkers say."""

from __future__ import annotations

from itertools import pairwise

import msgspec

from harness.execution.conflicts import accesses
from harness.history import History
from harness.invariants.catalogue import check_all

TOLD_BY_FUTURE = {"dequeue", "lease-begin"}
"""Kinds of which the search hears with a future in the place of a TaskId."""
BY_THE_CLOCK = "evidence-true"
"""Compares events with times that were told. Between events of different times somebody has read the clock, which no
event commutes with: of such neighbours the other invariants alone are asked."""


def things(event, *, tells):
    task = object() if event.kind in TOLD_BY_FUTURE else event.task
    return dict(accesses(event.kind, task, event.session, event.slot, event.attrs, tells=tells))


def commute(one, other, *, tells):
    if one.thread == other.thread:
        return False
    ours, theirs = things(one, tells=tells), things(other, tells=tells or one.kind == "dequeue")
    return all(ours[thing] == theirs[thing] != "" for thing in ours.keys() & theirs.keys())


def swapped(history, place):
    events = list(history.events)
    one, other = events[place : place + 2]
    events[place : place + 2] = [
        msgspec.structs.replace(other, seq=one.seq),
        msgspec.structs.replace(one, seq=other.seq),
    ]
    return History(history.mode, tuple(events))


def judged(history, *, but=""):
    return {
        name: (sorted(violation.message for violation in each.violations), each.unknown, each.checked > 0)
        for name, each in check_all(history).items()
        if name != but
    }


def change_places(history):
    """How many pairs could change places; fails on one that a checker notices."""
    tells, changed = False, 0
    before = {but: judged(history, but=but) for but in ("", BY_THE_CLOCK)}
    for place, (one, other) in enumerate(pairwise(history.events)):
        tells |= place > 0 and history.events[place - 1].kind == "dequeue"
        if commute(one, other, tells=tells):
            changed += 1
            but = "" if one.at_ns == other.at_ns else BY_THE_CLOCK
            assert judged(swapped(history, place), but=but) == before[but], (one, other)
    return changed
