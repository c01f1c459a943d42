"""Priorities of threads, and of their timers, each drawn when it is first asked for."""

from __future__ import annotations

import random  # noqa: TID251 - a strategy owns its seeded generator

from harness.engine.threads import Controlled

__all__ = ["Priorities", "of_timer"]


class Priorities(dict[int, float]):
    """By the number of a thread, or by what `of_timer` says."""

    def __init__(self, source: random.Random) -> None:
        super().__init__()
        self.draw = source.random

    def __missing__(self, key: int) -> float:
        priority = self[key] = self.draw()
        return priority


def of_timer(timer: Controlled) -> int:
    """What a thread's time-out is known by: its priority is not that of the thread's next step."""
    return -1 - timer.number
