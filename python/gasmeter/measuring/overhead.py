"""Overhead: value / reference - 1, from blocks that were measured next to each other."""

from __future__ import annotations

import numpy.typing as npt

from gasmeter import statistics
from gasmeter.statistics import Interval

__all__ = ["overhead", "overhead_interval"]


def overhead(value: float, reference: float) -> float:
    """Return how much a value exceeds its reference.

    Parameters
    ----------
    value : float
        What is judged.
    reference : float
        What it is judged against, in the same unit, not 0.

    Returns
    -------
    float
        ``value / reference - 1``; 0.12 is 12 %.

    Raises
    ------
    ZeroDivisionError
        If the reference is 0.

    Examples
    --------
    >>> round(overhead(112.0, 100.0), 12)
    0.12
    """
    return value / reference - 1


def overhead_interval(values: npt.ArrayLike, reference: npt.ArrayLike) -> Interval:
    """Return the median overhead of paired blocks with its 95 % interval.

    Parameters
    ----------
    values, reference : array of float, shape (n,)
        Blocks that ran next to each other stand at the same index.

    Returns
    -------
    Interval
        Of ``value / reference - 1``.
    """
    ratio = statistics.paired_ratio(values, reference)
    return Interval(ratio.median - 1, ratio.low - 1, ratio.high - 1, ratio.n)
