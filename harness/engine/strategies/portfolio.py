"""Several strategies in turn: no single one finds every kind of bug first."""

from __future__ import annotations

from collections.abc import Callable

from harness.engine.strategies.exhaustive import Exhaustive
from harness.engine.strategies.pct import Pct
from harness.engine.strategies.random_walk import RandomWalk
from harness.engine.strategies.scripted import Scripted
from harness.engine.strategies.strategy import Choose, Search

__all__ = ["Portfolio", "make_strategy"]


class Portfolio:
    """The default order once, then PCT at depth 2 and 3, and a random walk, in turn."""

    name = "portfolio"
    bound = -1
    tracks_causality = False

    def __init__(self, seed: int) -> None:
        self._first: Search = Scripted()
        self._turns: tuple[Search, ...] = (Pct(seed, 2), RandomWalk(seed), Pct(seed + 1, 3))
        self._now: Search = self._first
        self.common = True

    def begin(self, execution: int) -> bool:
        """Pick whose turn it is."""
        self._now = self._first if execution == 0 else self._turns[execution % len(self._turns)]
        return self._now.begin(execution)

    @property
    def choose(self) -> Choose:
        """The `choose` of the one whose turn it is."""
        return self._now.choose

    def end(self, points: int) -> None:
        """Tell all of them: the length of executions is the same knowledge for each."""
        for strategy in self._turns:
            strategy.end(points)
        self.common = False

    def start_over(self) -> None:
        """Nothing was remembered."""


def make_strategy(
    name: str, seed: int, bound: int = -1, share: int = 0, of: int = 1, *, reduce: bool = False
) -> Search:
    """Make a strategy by name; `bound` is the depth of PCT or the preemptions of the exhaustive search, -1 for its own.

    `reduce`: an exhaustive search may leave out what it has seen in another order, since every access is reported. It
    explores share number `share` of `of`, if it is given the numbers of that share only, and those while it is
    `common`. Raises ValueError for another name.
    """
    makers: dict[str, Callable[[], Search]] = {
        "exhaustive": lambda: Exhaustive(2 if bound < 0 else bound, reduce=reduce, share=share, of=of),
        "scripted": Scripted,
        "random": lambda: RandomWalk(seed),
        "pct": lambda: Pct(seed, 3 if bound < 1 else bound),
        "portfolio": lambda: Portfolio(seed),
    }
    if name not in makers:
        message = f"no strategy {name!r}: there are {', '.join(makers)}"
        raise ValueError(message)
    return makers[name]()
