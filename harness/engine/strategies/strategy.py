"""The protocols between the kernel, whoever runs executions, and what decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from harness.engine.causality import Races
from harness.engine.threads import Controlled

__all__ = ["Choose", "Chooser", "Search", "Strategy"]

Choose: TypeAlias = Callable[[Controlled | None, Sequence[Controlled], Controlled | None], Controlled | None]


class Chooser(Protocol):
    """Decides who goes next in one execution. Called on whichever thread holds the token, never concurrently."""

    @property
    def choose(self) -> Choose:
        """What decides, given `by`, `ready` and `timer`, at each decision point that has two candidates or more.

        It picks from `ready`, or it picks `timer`: the blocked thread whose time-out is due first, which fires then.
        `by` is the thread at the point, None for the kernel itself; it is among `ready` if it can go on. None gives the
        execution up: what could still come of it is explored elsewhere.
        """
        ...


class Strategy(Chooser, Protocol):
    """Decides in one execution after the other: `begin`, then `choose` at each point, then `end`."""

    @property
    def races(self) -> Races | None:
        """Is told of the steps that raced, if `choose` needs the kernel's `causality`, which costs time; else None."""
        ...

    def begin(self, execution: int) -> bool:
        """Start execution number `execution`, counted from 0; False when there is none left to explore.

        The same number and seed decide the same way.
        """
        ...

    def end(self, points: int) -> None:
        """Learn how many decision points the execution had."""


class Search(Strategy, Protocol):
    """A strategy that explores, alone or as one of several shares."""

    name: str
    bound: int
    """The strategy's bound (PCT: the depth; exhaustive: the preemptions), -1 where it has none."""
    common: bool
    """Whether the next execution must be run in every share of an exploration: what follows depends on it."""

    @property
    def whole_to(self) -> int:
        """With at most so many preemptions, this share has explored every schedule; -1 where that is true of none."""
        ...

    def start_over(self) -> None:
        """Forget what was explored: there are more decision points than were known of so far."""
