"""What a pipeline counts and measures."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["PipelineCounters", "PipelineMeter", "PipelineTimes"]

LATENCIES = 1000
"""How many of the last items the latency is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineCounters:
    """A consistent snapshot: `accepted` = `waiting` + `in_flight` + the four ways to end. `breaches` of ownership."""

    accepted: int
    waiting: int
    in_flight: int
    finished: int
    failed: int
    replaced: int
    cancelled: int
    breaches: int
    free_buffers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineTimes:
    """Seconds. `stages` holds each stage's mean; latency is from an item's acceptance to its exit, failed or not.

    `rate` is the most that the slowest stage lets through, in items per second, whatever the latency. 0 before any.
    """

    stages: Mapping[str, float]
    slowest: str
    rate: float
    latency_median: float
    latency_p99: float
    latency_over: int


class PipelineMeter:
    """Counts under the pipeline's lock."""

    def __init__(self, stages: tuple[str, ...]) -> None:
        self.accepted = self.finished = self.failed = self.replaced = self.cancelled = self.breaches = 0
        self._seconds = dict.fromkeys(stages, 0.0)
        self._runs = dict.fromkeys(stages, 0)
        self._latencies: deque[float] = deque(maxlen=LATENCIES)

    def stage_took(self, name: str, seconds: float) -> None:
        """One item passed one stage, or failed in it."""
        self._seconds[name] += seconds
        self._runs[name] += 1

    def ended(self, *, failed: bool, seconds: float) -> None:
        """One item that had a buffer has its outcome."""
        if failed:
            self.failed += 1
        else:
            self.finished += 1
        self._latencies.append(seconds)

    def counters(self, *, waiting: int, free_buffers: int) -> PipelineCounters:
        """A snapshot."""
        ended = self.finished + self.failed + self.replaced + self.cancelled
        return PipelineCounters(
            accepted=self.accepted,
            waiting=waiting,
            in_flight=self.accepted - waiting - ended,
            finished=self.finished,
            failed=self.failed,
            replaced=self.replaced,
            cancelled=self.cancelled,
            breaches=self.breaches,
            free_buffers=free_buffers,
        )

    def times(self) -> PipelineTimes:
        """Means of the stages and quantiles of the last items."""
        means = {name: self._seconds[name] / max(1, self._runs[name]) for name in self._seconds}
        slowest = max(means, key=lambda name: means[name])
        latencies = sorted(self._latencies)
        return PipelineTimes(
            stages=means,
            slowest=slowest,
            rate=1.0 / means[slowest] if means[slowest] > 0 else 0.0,
            latency_median=_quantile(latencies, 0.5),
            latency_p99=_quantile(latencies, 0.99),
            latency_over=len(latencies),
        )


def _quantile(ordered: list[float], share: float) -> float:
    """The smallest value that at least that share does not exceed; 0 of nothing."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0
