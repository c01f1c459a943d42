"""How fast a series of readings grows, with its uncertainty: what tells a leak from noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Slope", "slope_of"]

FEWEST = 8
"""Readings below which no interval means anything."""
CONFIDENCE_Z = {0.95: 1.959964, 0.99: 2.575829, 0.999: 3.290527}
"""Two-sided normal quantiles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slope:
    """Growth in units a round: the estimate, and an interval that holds the true slope with the stated confidence."""

    per_round: float
    low: float
    high: float
    rounds: int
    confidence: float

    def grows(self, tolerance: float = 0.0) -> bool:
        """Whether growth above `tolerance` is shown: the whole interval lies above it."""
        return self.low > tolerance


def slope_of(readings: ArrayLike, *, warm_up: int = 0, confidence: float = 0.99) -> Slope:
    """Estimate the slope of readings that were taken once a round; the first `warm_up` of them are left out.

    Theil and Sen's estimator, the median of the slopes between all pairs, with Sen's interval (P. K. Sen, Estimates of
    the regression coefficient based on Kendall's tau, JASA 63, 1968). Least squares will not do: memory grows in
    steps, and a single page taken late would move its line, while a quarter of the readings may be off without moving
    a median. Counts that never change have slope 0 and an interval of width 0. Ties are taken into the variance.
    Sen's interval takes the noise of two readings as independent; where it is not, `FEWEST` is far too few.

    Raises ValueError for fewer than 8 readings, or a confidence that is not 0.95, 0.99 or 0.999.
    """
    values = np.asarray(readings, np.float64)[warm_up:]
    if values.ndim != 1 or values.size < FEWEST:
        message = f"a slope needs at least {FEWEST} readings after the warm-up, not {values.size}"
        raise ValueError(message)
    if confidence not in CONFIDENCE_Z:
        message = f"a confidence is one of {', '.join(map(str, CONFIDENCE_Z))}"
        raise ValueError(message)
    first, second = np.triu_indices(values.size, 1)
    slopes = np.sort((values[second] - values[first]) / (second - first))
    reach = CONFIDENCE_Z[confidence] * np.sqrt(_variance(values))
    low, high = _bounds(slopes, reach)
    return Slope(per_round=float(np.median(slopes)), low=low, high=high, rounds=int(values.size), confidence=confidence)


def _variance(values: NDArray[np.float64]) -> float:
    """The variance of Kendall's statistic without a trend, with ties among the readings (Kendall, 1975)."""
    size = values.size
    _, ties = np.unique(values, return_counts=True)
    tied = float((ties * (ties - 1) * (2 * ties + 5)).sum())
    return (size * (size - 1) * (2 * size + 5) - tied) / 18


def _bounds(slopes: NDArray[np.float64], reach: float) -> tuple[float, float]:
    """The order statistics that bound the slope."""
    count = slopes.size
    low = max(0, int(np.floor((count - reach) / 2)) - 1)
    high = min(count - 1, int(np.ceil((count + reach) / 2)))
    return float(slopes[low]), float(slopes[high])
