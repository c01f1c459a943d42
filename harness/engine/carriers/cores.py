"""Choose the core that all carriers share: one where nobody else runs, since each hand-over would wait for them."""

from __future__ import annotations

import os
import time  # noqa: TID251 - measures real time
from functools import cache

from harness.engine.carriers.os_thread import pin_this_thread

__all__ = ["choose_core"]

LOOK_SECONDS = 0.008
"""How long each core is looked at: longer than a scheduler's time slice, so that somebody else there shows."""
MOST_CORES = 8
GOOD_ENOUGH = 0.8
"""The preferred core is taken if it gives this share of what the best one gives."""

_clock, _own_time = time.perf_counter, time.thread_time


@cache
def choose_core(preferred: int) -> int | None:
    """Pin the calling thread to the chosen core and return it; None where threads cannot be pinned.

    `preferred` counts from 0, over the cores that this process may use, and around: workers that run side by side are
    given different ones.
    """
    if not hasattr(os, "sched_getaffinity"):
        return None
    cores = sorted(os.sched_getaffinity(0))
    first = preferred % len(cores)
    cores = (cores[first:] + cores[:first])[:MOST_CORES]
    shares = [_share(core) for core in cores]
    chosen = cores[0] if shares[0] >= GOOD_ENOUGH * max(shares) else cores[shares.index(max(shares))]
    pin_this_thread(chosen)
    return chosen


def _share(core: int) -> float:
    """The share of a core that this thread gets: processor time over real time."""
    pin_this_thread(core)
    began, used = _clock(), _own_time()
    while _clock() - began < LOOK_SECONDS:
        pass
    return (_own_time() - used) / (_clock() - began)
