"""Two samples of process starts: the effect, its interval, and its significance.

The unit is the process start. A process's values depend on the places of its memory and on its core; its blocks share
these, so that any number of them is one observation of the build.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from gasmeter.arguments.choices import FEWEST_STARTS
from gasmeter.statistics import CONFIDENCE

__all__ = [
    "POWER",
    "RELEVANT",
    "TRIM",
    "Comparison",
    "Verdict",
    "compare_paired",
    "compare_starts",
    "correct",
]

RELEVANT = 0.02
"""Smaller differences do not count, however sure."""
TRIM = 0.1
"""Share left out at either end: of ten starts one may be disturbed, on either side, without moving the result."""

POWER = 0.9
"""Probability with which the stated least change is detected."""
_MOST_REACH = 50.0  # beyond any change, without overflow

Verdict = Literal["slower", "faster", "not significant", "undecided"]


@dataclass(frozen=True)
class Comparison:
    """Result of comparing builds A and B."""

    # Time of B over A, 1.04 is 4 % slower; inverse for rates and bandwidths, so that above 1 is always worse
    ratio: float
    low: float  # 95 % interval of the ratio, down to `high`; NaN without one
    high: float
    p: float  # two-sided probability of a difference this large between two samples of one build
    starts: tuple[int, int]  # process starts of A and of B that count
    verdict: Verdict  # ``slower``, ``faster``, ``not significant`` or ``undecided`` (too few comparable starts)
    relevant: float = RELEVANT  # threshold of the verdict
    # Least change for the worse, as a share, that nine in ten such checks detect; NaN if unknown
    sees: float = math.nan
    error: float = math.nan  # standard error of the logarithm of the ratio; NaN without a test
    freedom: float = math.nan  # degrees of freedom of `error`

    def words(self) -> str:
        """Return the verdict for people: ``1.04x slower``, ``1.1x faster``, ``not significant`` or ``undecided``."""
        if self.verdict == "slower":
            return f"{self.ratio:.3g}x slower"
        if self.verdict == "faster":
            return f"{1 / self.ratio:.3g}x faster"
        return self.verdict


def _logarithms(values: npt.ArrayLike, *, more_is_better: bool) -> npt.NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.size and not (np.isfinite(array) & (array > 0)).all():
        raise ValueError("values of process starts have to be positive and finite")
    return -np.log(array) if more_is_better else np.log(array)


def _trimmed(values: npt.NDArray[np.float64]) -> tuple[float, float, int]:
    """Return trimmed mean, its squared standard error, degrees of freedom (Yuen 1974; Tukey, McLaughlin 1963)."""
    n = values.size
    cut = math.floor(TRIM * n)
    ordered = np.sort(values)
    kept = n - 2 * cut
    mean = float(ordered[cut : n - cut].mean())
    winsorised = np.clip(ordered, ordered[cut], ordered[n - 1 - cut])
    error = float(winsorised.var(ddof=1)) * (n - 1) / (kept * (kept - 1))
    return mean, error, kept - 1


def _comparison(effect: float, error: float, freedom: float, starts: tuple[int, int], relevant: float) -> Comparison:
    """Make a comparison from a difference of logarithms."""
    if error <= 0.0:
        p, half = (1.0 if effect == 0.0 else 0.0), 0.0
    else:
        from scipy import stats  # noqa: PLC0415 - who only names a wrong input waits for none of it

        p = float(2 * stats.t.sf(abs(effect) / math.sqrt(error), freedom))
        half = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom)) * math.sqrt(error)
    comparison = Comparison(
        math.exp(effect), math.exp(effect - half), math.exp(effect + half), p, starts, "undecided", relevant,
        error=math.sqrt(max(error, 0.0)), freedom=freedom,
    )  # fmt: skip
    if min(starts) < FEWEST_STARTS:
        return comparison
    return dataclasses.replace(comparison, verdict=_verdict(comparison, p), sees=_sees(comparison, 1))


def _sees(comparison: Comparison, comparisons: int) -> float:
    """Return the change that is detected with probability `POWER` among so many compared values."""
    from scipy import stats  # noqa: PLC0415 - who only names a wrong input waits for none of it

    tail = (1 - CONFIDENCE) / 2 / comparisons
    reach = float(stats.t.isf(tail, comparison.freedom) + stats.t.ppf(POWER, comparison.freedom))
    return max(comparison.relevant, math.expm1(min(comparison.error * reach, _MOST_REACH)))


def _verdict(comparison: Comparison, p: float) -> Verdict:
    if p >= 1 - CONFIDENCE or abs(math.log(comparison.ratio)) < math.log1p(comparison.relevant):
        return "not significant"
    return "slower" if comparison.ratio > 1 else "faster"


def compare_starts(
    before: npt.ArrayLike, after: npt.ArrayLike, *, more_is_better: bool = False, relevant: float = RELEVANT
) -> Comparison:
    """Compare process starts of two builds that were measured one after the other.

    Yuen's test compares trimmed means of logarithms, with Welch's degrees of freedom. Each start has one positive
    value, in one unit; `relevant` is the smallest difference that counts. Raises ValueError for a value that is not
    positive and finite.
    """
    first, second = (_logarithms(values, more_is_better=more_is_better) for values in (before, after))
    starts = (int(first.size), int(second.size))
    if min(starts) < 4:
        return _too_few(first, second, starts, relevant)
    (mean_a, error_a, freedom_a), (mean_b, error_b, freedom_b) = _trimmed(first), _trimmed(second)
    error = error_a + error_b
    freedom = error**2 / (error_a**2 / freedom_a + error_b**2 / freedom_b) if error > 0 else 1.0
    return _comparison(mean_b - mean_a, error, freedom, starts, relevant)


def compare_paired(
    before: npt.ArrayLike, after: npt.ArrayLike, *, more_is_better: bool = False, relevant: float = RELEVANT
) -> Comparison:
    """Compare process starts of two builds in alternating blocks; partners have the same index.

    A t test compares the trimmed mean of the logarithms of the ratios with 0. Raises ValueError for a value that is not
    positive and finite, or samples of different length.
    """
    first, second = (_logarithms(values, more_is_better=more_is_better) for values in (before, after))
    if first.size != second.size:
        raise ValueError(f"{first.size} and {second.size} process starts cannot be paired")
    starts = (int(first.size), int(second.size))
    if first.size < 4:
        return _too_few(first, second, starts, relevant)
    return _comparison(*_trimmed(second - first), starts, relevant)


def _too_few(
    first: npt.NDArray[np.float64], second: npt.NDArray[np.float64], starts: tuple[int, int], relevant: float
) -> Comparison:
    ratio = math.exp(float(np.median(second) - np.median(first))) if min(starts) else math.nan
    return Comparison(ratio, math.nan, math.nan, math.nan, starts, "undecided", relevant)


def correct(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return all comparisons of a check with verdicts that hold for all of them together, in the same order.

    After Holm's correction (1979), equal builds cause an alarm in fewer than 5 % of checks, whatever their number.
    ``p`` is the corrected one, and ``sees`` the least change that the strictest test detects.
    """
    decided = [i for i, comparison in enumerate(comparisons) if comparison.verdict != "undecided"]
    result = list(comparisons)
    largest = 0.0
    for rank, i in enumerate(sorted(decided, key=lambda i: comparisons[i].p)):
        largest = max(largest, min(1.0, comparisons[i].p * (len(decided) - rank)))
        corrected = dataclasses.replace(comparisons[i], p=largest, sees=_sees(comparisons[i], len(decided)))
        result[i] = dataclasses.replace(corrected, verdict=_verdict(corrected, largest))
    return result
