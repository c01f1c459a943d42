"""The protocol between the kernel and what decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from harness.engine.threads import Controlled

__all__ = ["Strategy"]


class Strategy(Protocol):
    """Decides who goes next. Called on whichever thread holds the token, never concurrently.

    `begin` comes before each execution with its number, `choose` at each decision point that has more than one
    candidate, `end` after the execution with how many such points it had.
    """

    name: str
    bound: int
    """The strategy's bound (PCT: the depth; exhaustive: the preemptions), -1 where it has none."""
    tracks_causality: bool
    """Whether `choose` needs the kernel's `causality`, which costs time."""

    def begin(self, execution: int) -> bool:
        """Start execution number `execution`, counted from 0; False when there is none left to explore.

        The same number and seed decide the same way.
        """
        ...

    def choose(self, by: Controlled | None, ready: Sequence[Controlled], timer: Controlled | None) -> Controlled | None:
        """Pick from `ready`, or pick `timer`: the blocked thread whose time-out is due first, which fires then.

        `by` is the thread at the point, None for the kernel itself; it is among `ready` if it can go on. There are two
        candidates or more. None gives the execution up: what could still come of it is explored elsewhere.
        """
        ...

    def end(self, points: int) -> None:
        """Learn how many decision points the execution had."""
