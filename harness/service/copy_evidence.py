"""Whether a hand-over copies: what handles and times show, said no more strongly than they show it."""

from __future__ import annotations

import math
import statistics
import time  # noqa: TID251 - what is measured here is time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from adapters.base import Array

__all__ = ["NOT_OBSERVED", "CopyEvidence", "CopyStatement", "HandOver", "Slope", "measure_copies", "slope_of"]

CopyStatement: TypeAlias = Literal["no explicit copy", "explicit copy", "undecided"]
HandOver: TypeAlias = Callable[[Array], Array]
"""Hands an array over and returns what the receiver sees: the same memory, or another's."""

NOT_OBSERVED = ("copies on the device's timeline", "bytes on the memory bus")
"""What neither a handle nor a host clock can show. Part of every statement."""

_SIZES = (1 << 14, 1 << 17, 1 << 20, 1 << 22)
_FRACTION = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Slope:
    """Nanoseconds per byte: the median over rounds, and an interval that holds the true median at 95 % or more."""

    median: float
    low: float
    high: float
    rounds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyEvidence:
    """What was seen, and what it amounts to. `reason` names what decided; times are from the host's own clock.

    `same_handle`: at every size the receiver's array had the sender's address and shared its memory. `hand_over` and
    `copy` are the slopes of time over size of the hand-over and, in the same rounds, of copying the same arrays.
    """

    statement: CopyStatement
    reason: str
    same_handle: bool
    hand_over: Slope
    copy: Slope
    sizes: tuple[int, ...]
    not_observed: tuple[str, ...] = NOT_OBSERVED

    def record(self) -> dict[str, Any]:
        """Everything by name, as a receipt keeps it."""
        return asdict(self)


def measure_copies(hand_over: HandOver, sizes: Sequence[int] = _SIZES, rounds: int = 15) -> CopyEvidence:
    """Measure a hand-over beside a plain copy, in turns, over at least three sizes in bytes. On the calling thread.

    "no explicit copy" needs both: the same handle at every size, and a time that does not grow with size, which is that
    even the upper end of its slope is less than a tenth of the lower end of a copy's. "explicit copy" needs another
    handle and a slope of at least a tenth of a copy's. Whatever lies between, or is lost in noise, is "undecided".
    """
    if len(set(sizes)) < 3 or rounds < 6:  # noqa: PLR2004 - a line with a residual; an interval at 95 %
        message = "the evidence needs three sizes and six rounds at least"
        raise ValueError(message)
    arrays = [np.ones(size, np.uint8) for size in sizes]
    same = all(_same_handle(array, hand_over(array)) for array in arrays)
    handed: list[float] = []
    copied: list[float] = []
    for _ in range(rounds):
        handed.append(_fit(sizes, [_took(hand_over, array) for array in arrays]))
        copied.append(_fit(sizes, [_took(np.copy, array) for array in arrays]))
    evidence = (slope_of(handed), slope_of(copied))
    statement, reason = _judge(*evidence, same_handle=same)
    return CopyEvidence(
        statement=statement,
        reason=reason,
        same_handle=same,
        hand_over=evidence[0],
        copy=evidence[1],
        sizes=tuple(sizes),
    )


def slope_of(slopes: Sequence[float]) -> Slope:
    """The median of the rounds' slopes, between two order statistics that enclose the true median at 95 % or more.

    Free of any assumption on how noise is distributed: of n rounds, each is below the true median with probability 1/2.
    """
    ordered = sorted(slopes)
    outside = 0
    while 2 * _binomial_below(outside + 1, len(ordered)) <= 0.05:  # noqa: PLR2004 - 95 %
        outside += 1
    low, high = ordered[outside], ordered[-1 - outside]
    return Slope(median=statistics.median(ordered), low=low, high=high, rounds=len(ordered))


def _binomial_below(count: int, of: int) -> float:
    """The probability of fewer than count + 1 heads in `of` tosses, less the last: P(X <= count)."""
    return sum(math.comb(of, each) for each in range(count + 1)) / 2**of


def _judge(hand_over: Slope, copy: Slope, *, same_handle: bool) -> tuple[CopyStatement, str]:
    if copy.low <= 0:
        return "undecided", "the time of a plain copy does not grow with size here: the clock shows nothing"
    flat = hand_over.high < _FRACTION * copy.low
    grows = hand_over.low > _FRACTION * copy.high
    if same_handle and flat:
        return "no explicit copy", "same handle, and a time that does not grow with size"
    if not same_handle and grows:
        return "explicit copy", "another handle, and a time that grows with size"
    handle = "same handle" if same_handle else "another handle"
    growth = "a time that does not grow" if flat else "a time that grows" if grows else "a time lost in noise"
    return "undecided", f"{handle}, but {growth} with size"


def _same_handle(sent: Array, received: Array) -> bool:
    addresses = [array.__array_interface__["data"][0] for array in (sent, received)]
    return addresses[0] == addresses[1] and bool(np.shares_memory(sent, received))


def _took(operation: HandOver, array: Array) -> float:
    begun = time.perf_counter_ns()
    kept = operation(array)
    took = time.perf_counter_ns() - begun
    del kept  # freeing is not part of the hand-over
    return float(took)


def _fit(sizes: Sequence[int], times: Sequence[float]) -> float:
    """The least-squares slope of time over size."""
    return statistics.linear_regression(sizes, times).slope
