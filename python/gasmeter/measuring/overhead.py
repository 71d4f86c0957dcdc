"""Overhead: value / reference - 1, from blocks that were measured next to each other."""

from __future__ import annotations

import numpy.typing as npt

from gasmeter import statistics
from gasmeter.statistics import Interval

__all__ = ["overhead", "overhead_interval"]


def overhead(value: float, reference: float) -> float:
    """Return ``value / reference - 1``: 0.12 is 12 %. Raises ZeroDivisionError for a reference of 0."""
    return value / reference - 1


def overhead_interval(values: npt.ArrayLike, reference: npt.ArrayLike) -> Interval:
    """Return the median of ``value / reference - 1`` over paired blocks with its 95 % interval.

    Blocks that ran next to each other have the same index.
    """
    ratio = statistics.paired_ratio(values, reference)
    return Interval(ratio.median - 1, ratio.low - 1, ratio.high - 1, ratio.n)
