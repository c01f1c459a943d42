"""A uniform choice at every decision point."""

from __future__ import annotations

import random  # noqa: TID251 - a strategy owns its seeded generator
from collections.abc import Sequence

from harness.engine.compiling import mypyc_attr
from harness.engine.threads import Controlled

__all__ = ["RandomWalk"]


@mypyc_attr(allow_interpreted_subclasses=True)
class RandomWalk:
    """Each candidate is as likely as the others, a due timer among them."""

    name = "random"
    bound = -1
    whole_to = -1
    races = None
    common = False

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._random = random.Random(seed)  # noqa: S311 - reproducible, not secret

    def begin(self, execution: int) -> bool:
        """Seed by execution, so that any one of them can be run again alone."""
        self._random.seed(f"{self._seed}/{execution}")
        return True

    def choose(self, by: Controlled | None, ready: Sequence[Controlled], timer: Controlled | None) -> Controlled:
        """Draw one."""
        del by
        drawn = int(self._random.random() * (len(ready) + (timer is not None)))
        if drawn < len(ready):
            return ready[drawn]
        assert timer is not None, "only a timer makes the draw exceed the ready threads"
        return timer

    def end(self, points: int) -> None:
        """Nothing to learn."""

    def start_over(self) -> None:
        """Nothing was remembered."""
