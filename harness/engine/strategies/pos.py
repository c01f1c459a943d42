"""Partial order sampling: each thread's next step has a priority of its own, and the highest goes.

Of all that is about to be done, each is as likely as the others to come first, however many steps the others take. So
a thread that must wait while two others go a long way is found, which a walk that draws at each step leaves out with a
probability that doubles with each of them (Yuan, Yang and Gu, CAV 2018). This is their basic variant, which does not
ask which steps race.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.engine.strategies.priorities import Priorities, of_timer
from harness.engine.strategies.random_walk import RandomWalk
from harness.engine.threads import Controlled

__all__ = ["PartialOrderSampling"]


class PartialOrderSampling(RandomWalk):
    """A random walk by priorities. One is for one step: when that is taken, the thread's next step has another one."""

    name = "pos"

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._priority = Priorities(self._random)

    def begin(self, execution: int) -> bool:
        """As ever, with no priority drawn yet."""
        self._priority.clear()
        return super().begin(execution)

    def choose(self, by: Controlled | None, ready: Sequence[Controlled], timer: Controlled | None) -> Controlled:
        """Take the highest priority; a timer's is not that of its thread's next step."""
        del by
        priorities = self._priority
        best, highest, key = timer, -1.0, 0
        if timer is not None:
            key = of_timer(timer)
            highest = priorities[key]
        for candidate in ready:
            priority = priorities[candidate.number]
            if priority > highest:
                best, highest, key = candidate, priority, candidate.number
        assert best is not None, "a decision needs a candidate"
        priorities[key] = priorities.draw()
        return best
