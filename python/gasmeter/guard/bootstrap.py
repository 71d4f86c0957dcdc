"""Block bootstrap: an interval for values that are correlated in the order they were measured."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gasmeter.statistics import CONFIDENCE, FEWEST_BLOCKS, Interval, lag1_autocorrelation

__all__ = ["block_length", "bootstrap_ratio"]

Values = npt.NDArray[np.float64]

_RESAMPLES = 2000


def block_length(values: npt.ArrayLike) -> int:
    """Return how many neighbours to draw together so that their correlation is kept: 1 to n / 2.

    The length is ``(sqrt(6) rho / (1 - rho^2))^(2/3) n^(1/3)``: Carlstein's rule for a first-order autoregression, with
    which Politis and White (2004) start.
    """
    array = np.asarray(values, dtype=np.float64)
    n, rho = array.size, lag1_autocorrelation(array)
    if n < 4 or rho == 0.0:
        return 1
    wanted = (math.sqrt(6) * rho / (1 - rho * rho)) ** (2 / 3) * n ** (1 / 3)
    return int(min(max(1, math.ceil(wanted)), n // 2))


def _resampled(array: Values, rng: np.random.Generator, resamples: int) -> Values:
    """Draw blocks of neighbours from the circular series until they cover its length."""
    length, n = block_length(array), array.size
    starts = rng.integers(0, n, size=(resamples, math.ceil(n / length)))
    places = (starts[:, :, None] + np.arange(length)) % n
    drawn: Values = array[places.reshape(resamples, -1)[:, :n]]
    return drawn


def bootstrap_ratio(
    values: npt.ArrayLike, reference: npt.ArrayLike, *, seed: int = 1, resamples: int = _RESAMPLES
) -> Interval:
    """Return ``median(values) / median(reference)`` with its 95 % interval; no ends below six values on a side.

    Values are positive and in the order measured. The two series need not have been measured together.
    """
    above, below = np.asarray(values, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    n = int(min(above.size, below.size))
    if n == 0:
        return Interval(math.nan, math.nan, math.nan, 0)
    point = float(np.median(above) / np.median(below))
    if n < FEWEST_BLOCKS:
        return Interval(point, math.nan, math.nan, n)
    rng = np.random.default_rng(seed)
    draws = np.median(_resampled(above, rng, resamples), axis=-1) / np.median(
        _resampled(below, rng, resamples), axis=-1
    )
    low, high = np.quantile(draws, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(point, float(low), float(high), n)
