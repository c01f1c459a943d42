"""Several strategies in turn: no single one finds every kind of bug first."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.engine.strategies.exhaustive import Exhaustive
from harness.engine.strategies.pct import Pct
from harness.engine.strategies.random_walk import RandomWalk
from harness.engine.strategies.scripted import Scripted
from harness.engine.strategies.strategy import Strategy
from harness.engine.threads import Controlled

__all__ = ["Portfolio", "make_strategy"]


class Portfolio:
    """The default order once, then PCT at depth 2 and 3, and a random walk, in turn."""

    name = "portfolio"
    bound = -1
    tracks_causality = False

    def __init__(self, seed: int) -> None:
        self._first: Strategy = Scripted()
        self._turns: tuple[Strategy, ...] = (Pct(seed, 2), RandomWalk(seed), Pct(seed + 1, 3))
        self._now: Strategy = self._first

    def begin(self, execution: int) -> bool:
        """Pick whose turn it is."""
        self._now = self._first if execution == 0 else self._turns[execution % len(self._turns)]
        return self._now.begin(execution)

    def choose(self, by: Controlled | None, ready: Sequence[Controlled], timer: Controlled | None) -> Controlled | None:
        """Ask the one whose turn it is."""
        return self._now.choose(by, ready, timer)

    def end(self, points: int) -> None:
        """Tell all of them: the length of executions is the same knowledge for each."""
        for strategy in self._turns:
            strategy.end(points)


def make_strategy(name: str, seed: int, bound: int = -1) -> Strategy:
    """Make a strategy by name; `bound` is the depth of PCT or the preemptions of the exhaustive search, -1 for its own.

    Raises ValueError for another name.
    """
    makers: dict[str, Callable[[], Strategy]] = {
        "exhaustive": lambda: Exhaustive(2 if bound < 0 else bound, reduce=False),
        "scripted": Scripted,
        "random": lambda: RandomWalk(seed),
        "pct": lambda: Pct(seed, 3 if bound < 1 else bound),
        "portfolio": lambda: Portfolio(seed),
    }
    if name not in makers:
        message = f"no strategy {name!r}: there are {', '.join(makers)}"
        raise ValueError(message)
    return makers[name]()
