"""Follow an order of segments: each thread runs until a step of its own, or until it cannot go on.

Where a recorded schedule says what happens at each point, this says in which order stretches of work are done, and so
still means something when a stretch has been moved or made longer: one that cannot be done now is passed over.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

from harness.engine.strategies.scripted import default_choice
from harness.engine.threads import Controlled, State
from harness.schedule import KERNEL

__all__ = ["Segment", "Segments", "segments_of"]


class Segment(NamedTuple):
    """Thread number `thread` runs until its step `until`, or until it stops if that is -1."""

    thread: int
    until: int


class Segments:
    """One execution in the order of the segments, then the default order."""

    races = None

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._segments = segments
        self._now = -1

    def begin(self, execution: int) -> bool:
        """Start over; there is one execution."""
        self._now = -1
        return execution == 0

    def choose(self, by: Controlled | None, ready: Sequence[Controlled], timer: Controlled | None) -> Controlled:
        """Stay in the segment while it lasts, else take the first one after it that can be begun."""
        if by is not None and self._lasts(by):
            return by
        candidates = {thread.number: thread for thread in (*ready, *(() if timer is None else (timer,)))}
        for place in range(self._now + 1, len(self._segments)):
            segment = self._segments[place]
            chosen = candidates.get(segment.thread)
            if chosen is not None and not (by is not None and chosen is by and by.steps >= segment.until >= 0):
                self._now = place
                return chosen
        return default_choice(by, ready, timer)

    def _lasts(self, by: Controlled) -> bool:
        if self._now < 0 or by.state is not State.READY:
            return False
        segment = self._segments[self._now]
        return segment.thread == by.number and (segment.until < 0 or by.steps < segment.until)

    def end(self, points: int) -> None:
        """Nothing to learn."""


def segments_of(
    decisions: Iterable[tuple[int, int, int, bool, int]], stops: Container[tuple[int, int]]
) -> tuple[Segment, ...]:
    """The segments of an execution, from its decisions: (by, step, how many were ready, timer or not, chosen).

    `stops` are the (by, step) where the thread at the point could not go on.
    """
    found: list[Segment] = []
    for by, step, _ready, _timer, chosen in decisions:
        if by != KERNEL:
            if not found or found[-1].thread != by:
                found.append(Segment(by, -1))  # whoever ran before stopped, and there was no choice
            if chosen != by and (by, step) not in stops:
                found[-1] = Segment(by, step)
        if chosen != by:
            found.append(Segment(chosen, -1))
    return tuple(found)
