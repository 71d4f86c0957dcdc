"""Statistics of blocks: a median, its distribution-free 95 % interval, and paired comparisons.

The unit is the block, never the operations inside it, which are correlated. Blocks are correlated too (the clock of the
processor, a neighbour's load). Intervals are therefore those of as many blocks as carry independent information.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = [
    "CONFIDENCE",
    "FEWEST_BLOCKS",
    "Interval",
    "Summary",
    "effective_size",
    "lag1_autocorrelation",
    "median_interval",
    "paired_difference",
    "paired_ratio",
    "precise_enough",
    "summarise",
]

CONFIDENCE = 0.95
FEWEST_BLOCKS = 6
"""Below six independent values no pair of order statistics covers the median with 95 % (1 - 2 / 2^5 = 94 %)."""

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """A median with its 95 % interval; the ends are NaN with too few blocks."""

    median: float
    low: float
    high: float
    n: int

    @property
    def half_width(self) -> float:
        """Half the interval divided by the median, 0.02 for ±2 %; infinite without an interval."""
        if not (math.isfinite(self.low) and math.isfinite(self.high)):
            return math.inf
        if self.high == self.low:
            return 0.0
        return (self.high - self.low) / 2 / abs(self.median) if self.median else math.inf

    def excludes(self, value: float) -> bool:
        """Return whether a value lies outside the interval (never true without an interval)."""
        return bool(self.low > value or self.high < value)


@dataclass(frozen=True)
class Summary:
    """A metric's values for a row: the median with its interval, and the spread of the blocks."""

    interval: Interval
    minimum: float
    p50: float
    p99: float


def lag1_autocorrelation(values: npt.ArrayLike) -> float:
    """Return the correlation of blocks with the one before, 0 to 0.95; negative values count as 0.

    It is computed on ranks, so that one disturbed block does not hide it, and corrected for the bias of small samples.
    Fewer than four blocks, or a block without value (NaN), give 0. Counting negative values as 0 is the cautious side.
    """
    array = np.asarray(values, dtype=np.float64)
    n = array.size
    if n < 4 or not float(np.ptp(array)) > 0.0:
        return 0.0
    centred = _ranks(array) - (n + 1) / 2
    rho = float(np.dot(centred[1:], centred[:-1]) / np.dot(centred, centred))
    return min(max(rho + (1 + 4 * rho) / n, 0.0), 0.95)


def _ranks(values: Values) -> Values:
    """Return ranks from 1; equal values share the mean of their ranks."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[places]


def effective_size(values: npt.ArrayLike) -> float:
    """Return the number of independent blocks with the same information: ``n (1 - rho) / (1 + rho)``, at most n.

    This is the variance inflation of the mean of a first-order autoregression. The median's is smaller, so that the
    interval errs on the wide side.
    """
    array = np.asarray(values, dtype=np.float64)
    rho = lag1_autocorrelation(array)
    return array.size * (1 - rho) / (1 + rho)


def median_interval(values: npt.ArrayLike) -> Interval:
    """Return the median with a 95 % interval between order statistics; blocks stand in the order measured.

    The interval between order statistics l and n + 1 - l covers the median with probability ``1 - 2 P(B < l)``, B
    binomial with n trials and probability 1/2, whatever the distribution. With correlation, the effective number of
    blocks gives l, scaled to n and rounded outwards. It is the whole range if fewer than six effective blocks are left.
    There are no ends below `FEWEST_BLOCKS` or with a missing value.
    """
    array = np.asarray(values, dtype=np.float64)
    n = int(array.size)
    if n == 0:
        return Interval(math.nan, math.nan, math.nan, 0)
    if n == 1:  # there are tens of thousands of modelled points
        return Interval(float(array[0]), math.nan, math.nan, 1)
    ordered = np.sort(array)
    median = float(np.median(ordered))
    if n < FEWEST_BLOCKS or math.isnan(median):
        return Interval(median, math.nan, math.nan, n)
    lower = _order_statistic(n, effective_size(array))
    return Interval(median, float(ordered[lower]), float(ordered[n - 1 - lower]), n)


def _order_statistic(n: int, effective: float) -> int:
    """Return the index (from 0) of the lower end of the interval in the sorted values."""
    whole = math.floor(effective)
    if whole < FEWEST_BLOCKS:
        return 0
    # The smallest k with P(B <= k) >= 2.5 % has P(B < k) < 2.5 %: order statistic k (from 1) is the end.
    from_one = _coin_quantile((1 - CONFIDENCE) / 2, whole)
    scaled = math.floor(from_one * n / whole) if whole < n else from_one
    # Scaling must not move the end inwards of the fraction k / (whole + 1) of the distribution.
    return max(min(scaled, math.floor(from_one / (whole + 1) * (n + 1))) - 1, 0)


@functools.cache
def _coin_quantile(share: float, n: int) -> int:
    """Return the smallest k with P(B <= k) >= `share`, B the heads among n tosses; `share` is well below a half."""
    deviations = 12.0  # a double is 0 beyond them
    k = max(math.floor(n / 2 - deviations * math.sqrt(n) / 2), 0)
    probability = math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) - n * math.log(2))
    below = probability
    while below < share:
        probability *= (n - k) / (k + 1)
        k += 1
        below += probability
    return k


def summarise(values: npt.ArrayLike) -> Summary:
    """Return median, interval, minimum and percentiles of blocks in the order measured; all NaN without a block."""
    array = np.asarray(values, dtype=np.float64)
    if array.size == 0:
        return Summary(median_interval(array), math.nan, math.nan, math.nan)
    p50, p99 = np.percentile(array, [50, 99]) if array.size > 1 else (array[0], array[0])
    return Summary(median_interval(array), float(array.min()), float(p50), float(p99))


def paired_ratio(values: npt.ArrayLike, reference: npt.ArrayLike) -> Interval:
    """Return the median of ``value / reference`` over paired blocks; subtract 1 for the overhead.

    Pairs whose reference is 0 are left out.
    """
    above, below = np.asarray(values, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    usable = below != 0
    return median_interval(above[usable] / below[usable])


def paired_difference(values: npt.ArrayLike, reference: npt.ArrayLike) -> Interval:
    """Return the median of ``value - reference`` over paired blocks."""
    return median_interval(np.asarray(values, dtype=np.float64) - np.asarray(reference, dtype=np.float64))


def precise_enough(interval: Interval, share: float) -> bool:
    """Tell whether a measurement may stop: half the interval is at most `share` of the median. False without one."""
    return interval.half_width <= share
