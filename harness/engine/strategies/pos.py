"""Partial order sampling: each thread's next step has a priority of its own, and the highest goes.

Of all that is about to be done, each is as likely as the others to come first, however many steps the others take. So
a thread that must wait while two others go a long way is found, which a walk that draws at each step leaves out with a
probability that doubles with each of them (Yuan, Yang and Gu, CAV 2018). This is their basic variant, which does not
ask which steps race.
"""

from __future__ import annotations

import random  # noqa: TID251 - a strategy owns its seeded generator
from collections.abc import Sequence

from harness.engine.threads import Controlled

__all__ = ["PartialOrderSampling"]


class PartialOrderSampling:
    """A priority is for one step: when that is taken, the thread's next step has another one."""

    name = "pos"
    bound = -1
    whole_to = -1
    tracks_causality = False
    common = False

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._random = random.Random(seed)  # noqa: S311 - reproducible, not secret
        self._draw = self._random.random
        self._priority: dict[int, float] = {}

    def begin(self, execution: int) -> bool:
        """Seed by execution, so that any one of them can be run again alone."""
        self._random.seed(f"{self._seed}/{execution}")
        self._priority.clear()
        return True

    def choose(self, by: Controlled | None, ready: Sequence[Controlled], timer: Controlled | None) -> Controlled:
        """Take the highest priority; a timer's is not that of its thread's next step."""
        del by
        priorities = self._priority
        best, highest, key = timer, -1.0, 0
        if timer is not None:
            key = -1 - timer.number
            highest = self._of(key)
        for candidate in ready:
            try:
                priority = priorities[candidate.number]
            except KeyError:
                priority = self._of(candidate.number)
            if priority > highest:
                best, highest, key = candidate, priority, candidate.number
        assert best is not None, "a decision needs a candidate"
        priorities[key] = self._draw()
        return best

    def end(self, points: int) -> None:
        """Nothing to learn."""

    def start_over(self) -> None:
        """Nothing was remembered."""

    def _of(self, key: int) -> float:
        if key not in self._priority:
            self._priority[key] = self._draw()
        return self._priority[key]
