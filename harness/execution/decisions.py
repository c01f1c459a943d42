"""The decisions of an execution as they were made, so that a replay that differs can be told where it began to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.engine.strategies.strategy import Choose, Chooser
from harness.engine.threads import Controlled
from harness.history import Event
from harness.schedule import KERNEL

__all__ = ["Decided", "Decision", "DecisionLog", "first_difference"]


class Decision(NamedTuple):
    """At step `step` of thread `by`, `ready` threads could go on, a time-out could fire or not, `chosen` was taken."""

    by: int
    step: int
    ready: int
    timer: bool
    chosen: int


class DecisionLog:
    """Passes the questions of one execution on and notes the answers: plain numbers, since there are many."""

    def __init__(self, chooser: Chooser) -> None:
        self.made: list[tuple[int, int, int, bool, int]] = []
        ask, note = chooser.choose, self.made.append

        def choose(by: Controlled | None, ready: Sequence[Controlled], timer: Controlled | None) -> Controlled | None:
            chosen = ask(by, ready, timer)
            if chosen is not None:
                who, step = (KERNEL, 0) if by is None else (by.number, by.steps)
                note((who, step, len(ready), timer is not None, chosen.number))
            return chosen

        self.choose: Choose = choose


class Decided(NamedTuple):
    """What of an execution a replay is compared with. `threads` are names, by number."""

    decisions: Sequence[tuple[int, int, int, bool, int]]
    threads: tuple[str, ...]
    events: tuple[Event, ...]


def first_difference(one: Decided, other: Decided) -> str:
    """Name the first decision in which a replay differs from the execution, else the first event, in words."""
    pairs = zip(one.decisions, other.decisions, strict=False)
    for number, (a, b) in enumerate(pairs, 1):
        if a != b:
            return f"a replay differs at decision {number}: {_differing(one, Decision(*a), other, Decision(*b))}"
    shorter, longer = sorted((one, other), key=lambda each: len(each.decisions))
    if len(shorter.decisions) < len(longer.decisions):
        number = len(shorter.decisions)
        who = "the replay" if longer is other else "the execution"
        rest = _point(longer, Decision(*longer.decisions[number]))
        return f"a replay differs at decision {number + 1}: only {who} came to it, {rest}"
    return _first_event(one, other)


def _differing(one: Decided, a: Decision, other: Decided, b: Decision) -> str:
    if (a.by, a.step) != (b.by, b.step):
        return f"it came {_point(one, a)}, in the replay {_point(other, b)}"
    if (a.ready, a.timer) != (b.ready, b.timer):
        return f"{_point(one, a)} {_candidates(a)}, in the replay {_candidates(b)}"
    return f"{_point(one, a)} {_name(one, a.chosen)} went on, in the replay {_name(other, b.chosen)}"


def _point(of: Decided, decision: Decision) -> str:
    return "with nobody running" if decision.by == KERNEL else f"at step {decision.step} of {_name(of, decision.by)}"


def _candidates(decision: Decision) -> str:
    threads = f"{decision.ready} thread{'' if decision.ready == 1 else 's'} could go on"
    return f"{threads} or a time-out fire" if decision.timer else threads


def _name(of: Decided, number: int) -> str:
    return of.threads[number] if number < len(of.threads) else f"thread {number}"


def _first_event(one: Decided, other: Decided) -> str:
    same = "every decision is the same"
    for a, b in zip(one.events, other.events, strict=False):
        if a != b:
            return f"a replay differs at event {a.seq}, though {same}: {_event(a)} became {_event(b)}"
    return f"a replay has {len(other.events)} events, the execution had {len(one.events)}, though {same}"


def _event(event: Event) -> str:
    return f"{event.thread} {event.kind}"
