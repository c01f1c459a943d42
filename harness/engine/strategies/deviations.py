"""Every execution that leaves the default order once: the first generation of the exhaustive search at bound 1.

It is read off the default execution alone, so that an execution's number decides it, whatever else has been run.
"""

from __future__ import annotations

import random  # noqa: TID251 - a strategy owns its seeded generator
from collections.abc import Sequence

from harness.engine.strategies.scripted import default_choice, numbered, position
from harness.engine.threads import Controlled

__all__ = ["Deviations"]


class Deviations:
    """One other choice at one decision point of the default execution, which number 0 is; each of them once.

    They are taken in an order drawn from the seed: the first few are then spread over the whole execution.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._left: list[tuple[tuple[int, int], int]] = []
        self._where: tuple[int, int] | None = None
        self._other = 0
        self.common = True

    def begin(self, number: int) -> bool:
        """Take deviation `number`, from 1, or the default execution; False if there are not so many."""
        self._where = None
        if number > len(self._left):
            return not number
        if number:
            self._where, self._other = self._left[number - 1]
        return True

    def choose(self, by: Controlled | None, ready: Sequence[Controlled], timer: Controlled | None) -> Controlled:
        """Take the default, but for the one point; in the default execution, note what could be chosen instead."""
        chosen = default_choice(by, ready, timer)
        if self.common:
            here = position(by, ready, timer)
            others = (*ready, *(() if timer is None else (timer,)))
            self._left.extend((here, other.number) for other in others if other is not chosen)
        elif self._where is not None and position(by, ready, timer) == self._where:
            self._where = None
            return numbered(self._other, ready, timer) or chosen  # a program may differ each time, and be told so
        return chosen

    def end(self) -> None:
        """After the default execution, all deviations are known."""
        if self.common:
            random.Random(self._seed).shuffle(self._left)  # noqa: S311 - reproducible, not secret
            self.common = False
