"""Probabilistic concurrency testing: random priorities, changed at a few random points.

Burckhardt, Kothari, Musuvathi, Nagarakatte: A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs,
ASPLOS 2010. A bug of depth d among n threads and k points is found with probability at least 1 / (n k^(d-1)). We
differ in three ways: k is taken from the length of the first execution, so that what an execution does depends on its
number and the seed and not on what ran before it; a pending time-out is one more candidate with a priority of its own,
so that early and late timers are both explored; and after `FAIR_AFTER` points the choice turns round robin, so that a
polling loop of high priority cannot starve the rest for ever.
"""

from __future__ import annotations

import random  # noqa: TID251 - a strategy owns its seeded generator
from collections.abc import Sequence

from harness.engine.strategies.priorities import Priorities, of_timer
from harness.engine.threads import Controlled

__all__ = ["Pct"]

FAIR_AFTER = 2_000
LOWEST = -1e9
"""Below every priority."""
SHORTEST = 16
"""Change points are drawn among so many points at least."""


class Pct:
    """PCT with `depth` (the number of ordering constraints a bug needs, 1 and up)."""

    name = "pct"
    whole_to = -1
    races = None

    def __init__(self, seed: int, depth: int = 3) -> None:
        assert depth >= 1, "a bug has at least depth 1"
        self.bound = depth
        self._seed = seed
        self._random = random.Random(seed)  # noqa: S311 - reproducible, not secret
        self._priority = Priorities(self._random)
        self._changes: dict[int, int] = {}
        self._point = 0
        self._length = SHORTEST
        self.common = True

    def begin(self, execution: int) -> bool:
        """Draw the change points, within what is expected of the length."""
        self._random.seed(f"{self._seed}/{execution}")
        self._priority.clear()
        self._point = 0
        self._changes = {self._random.randrange(self._length): change for change in range(self.bound - 1)}
        return True

    def choose(self, by: Controlled | None, ready: Sequence[Controlled], timer: Controlled | None) -> Controlled:
        """Take the highest priority, after lowering the running thread's at a change point."""
        point = self._point
        self._point = point + 1
        if point >= FAIR_AFTER:
            return ready[point % len(ready)] if ready else self._only(timer)
        priorities = self._priority
        if point in self._changes and by is not None:
            priorities[by.number] = -1.0 - self._changes[point]
        best, highest = None, LOWEST
        for candidate in ready:
            priority = priorities[candidate.number]
            if priority > highest:
                best, highest = candidate, priority
        if best is None or (timer is not None and priorities[of_timer(timer)] > highest):
            return self._only(timer)
        return best

    def end(self, points: int) -> None:
        """Learn from the first execution how long they are: others were up to half as long again."""
        if self.common:
            self._length = max(SHORTEST, points * 3 // 2)
            self.common = False

    def start_over(self) -> None:
        """Nothing was remembered."""

    @staticmethod
    def _only(timer: Controlled | None) -> Controlled:
        assert timer is not None, "a decision needs a candidate"
        return timer
