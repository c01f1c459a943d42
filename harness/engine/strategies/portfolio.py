"""Several strategies in turn: no single one finds every kind of bug first."""

from __future__ import annotations

from collections.abc import Callable

from harness.engine.strategies.deviations import Deviations
from harness.engine.strategies.exhaustive import Exhaustive
from harness.engine.strategies.pct import Pct
from harness.engine.strategies.pos import PartialOrderSampling
from harness.engine.strategies.random_walk import RandomWalk
from harness.engine.strategies.scripted import Scripted
from harness.engine.strategies.strategy import Choose, Search

__all__ = ["Portfolio", "make_strategy"]


EVERY = 5
"""One execution in so many is a deviation, while there are some left."""


class Portfolio:
    """The default order, then sampling, PCT and a random walk in turn, and among them what leaves it once.

    Partial order sampling gets every other turn: on our specimens and on the bugs of `benchmarks/peers` it is the best
    of the three.
    """

    name = "portfolio"
    bound = -1
    whole_to = -1
    races = None

    def __init__(self, seed: int) -> None:
        self._deviations = Deviations(seed)
        sampling = PartialOrderSampling(seed)
        self._turns: tuple[Search, ...] = (sampling, RandomWalk(seed), sampling, Pct(seed + 1))
        self.choose: Choose = self._deviations.choose
        self.common = True

    def begin(self, execution: int) -> bool:
        """Pick whose turn it is."""
        if not execution % EVERY and self._deviations.begin(execution // EVERY):
            self.choose = self._deviations.choose
            return True
        strategy = self._turns[execution % len(self._turns)]
        self.choose = strategy.choose
        return strategy.begin(execution)

    def end(self, points: int) -> None:
        """Tell all of them: the length of executions is the same knowledge for each."""
        self._deviations.end()
        for strategy in self._turns:
            strategy.end(points)
        self.common = False

    def start_over(self) -> None:
        """Nothing was remembered that is not true any more."""


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
        "pos": lambda: PartialOrderSampling(seed),
        "random": lambda: RandomWalk(seed),
        "pct": lambda: Pct(seed, 3 if bound < 1 else bound),
        "portfolio": lambda: Portfolio(seed),
    }
    if name not in makers:
        message = f"no strategy {name!r}: there are {', '.join(makers)}"
        raise ValueError(message)
    return makers[name]()
