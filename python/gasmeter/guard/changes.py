"""Steps in a history of one value: proposed by a segmentation, each confirmed by a permutation test.

A slow drift is distinguished from steps, an outlier is neither, and missing points are passed over.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

__all__ = ["SHORTEST", "Change", "History", "find_changes"]

SHORTEST = 4
"""Least points on either side of a step: fewer could be a disturbed day."""
SIGNIFICANT = 0.01
"""A history is read every day, so that one false step in a hundred is enough."""
_PERMUTATIONS = 299
_SEED = 20040920
_CLIP = 3.0

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Change:
    """A step of a history."""

    index: int  # first point after the step, counted in the given history with its missing points
    before: float  # median of the points since the step before, in the unit of the history
    after: float  # median of the points up to the next step, in the unit of the history
    p: float  # share of permutations of these points that have a step as clear somewhere

    @property
    def ratio(self) -> float:
        """``after / before``."""
        return self.after / self.before


@dataclass(frozen=True)
class History:
    """Steps or drift of a history."""

    changes: tuple[Change, ...] = ()  # in order of time
    # Ratio of the ends, last to first, of a straight line that fits better than steps; else NaN
    drift: float = math.nan
    noise: float = 0.0  # scatter from one point to the next, as a share
    missing: tuple[int, ...] = field(default=())


def find_changes(values: Sequence[float] | npt.ArrayLike, *, relevant: float = 0.02) -> History:
    """Return the steps of a history of positive values, oldest first; NaN marks missing ones.

    PELT (Killick 2012, with the penalty 3 log n times the noise's variance) proposes steps. A permutation test of the
    largest rank sum over all places confirms them; otherwise a drift may fit. Steps below the share `relevant` do not
    count. Raises ValueError for zero, negative or infinite values.
    """
    given = np.asarray(values, dtype=np.float64)
    present = np.flatnonzero(~np.isnan(given))
    missing = tuple(int(i) for i in np.flatnonzero(np.isnan(given)))
    points = given[present]
    if points.size and not (np.isfinite(points) & (points > 0)).all():
        raise ValueError("a history has to hold positive numbers, NaN where there is none")
    if points.size < 2 * SHORTEST:
        return History(missing=missing)
    logs = np.log(points)
    noise = _noise(logs)
    smooth = _without_outliers(logs, noise)
    places = _confirmed(smooth, _proposed(smooth, noise), relevant)
    drift = _drift(smooth, [place for place, _ in places], relevant)
    if not math.isnan(drift):
        return History((), drift, noise, missing)
    ends = [0, *(place for place, _ in places), points.size]
    changes = [
        Change(
            int(present[place]),
            float(np.median(points[ends[i] : place])),
            float(np.median(points[place : ends[i + 2]])),
            p,
        )
        for i, (place, p) in enumerate(places)
    ]
    return History(tuple(changes), math.nan, noise, missing)


def _noise(logs: Values) -> float:
    """Return the scatter of single points from differences of neighbours, which steps and drift hardly touch."""
    from scipy import stats  # noqa: PLC0415 - who only names a wrong input waits for none of it

    differences = np.diff(logs)
    return float(stats.median_abs_deviation(differences, scale="normal")) / math.sqrt(2)


def _without_outliers(logs: Values, noise: float) -> Values:
    """Pull single points to their neighbours' median, if they stand far from it."""
    width = 2 * (SHORTEST - 1) - 1
    padded = np.pad(logs, width // 2, mode="reflect")
    local = np.median(np.lib.stride_tricks.sliding_window_view(padded, width), axis=-1)
    reach = _CLIP * noise if noise > 0 else 0.0
    return np.asarray(np.clip(logs, local - reach, local + reach), dtype=np.float64)


def _proposed(logs: Values, noise: float) -> list[int]:
    import ruptures  # noqa: PLC0415 - who only names a wrong input waits for none of it

    scale = noise if noise > 0 else 1e-9
    penalty = 3 * math.log(logs.size) * scale**2
    # The compiled search with the linear kernel has the cost of model l2 and tries every place.
    search = ruptures.KernelCPD(kernel="linear", min_size=SHORTEST, jump=1)
    places = search.fit(logs.reshape(-1, 1)).predict(pen=penalty)
    return [int(place) for place in places[:-1]]


def _confirmed(logs: Values, proposed: list[int], relevant: float) -> list[tuple[int, float]]:
    """Remove the least sure step until all others are sure and large enough."""
    places = list(proposed)
    while places:
        ends = [0, *places, logs.size]
        weak: list[tuple[float, float, int]] = []
        sure: list[tuple[int, float]] = []
        for i, place in enumerate(places):
            left, right = logs[ends[i] : place], logs[place : ends[i + 2]]
            size = abs(float(np.median(right) - np.median(left)))
            p = _p_of_step(np.concatenate([left, right]))
            if p > SIGNIFICANT or size < math.log1p(relevant):
                weak.append((p if p > SIGNIFICANT else 0.0, -size, place))
            else:
                sure.append((place, p))
        if not weak:
            return sure
        places.remove(max(weak)[2])
    return []


def _p_of_step(values: Values) -> float:
    """Return the share of permutations whose clearest step, anywhere, is as clear as this one."""
    from scipy import stats  # noqa: PLC0415 - who only names a wrong input waits for none of it

    n = values.size
    ranks = stats.rankdata(values) - (n + 1) / 2
    sizes = np.arange(SHORTEST, n - SHORTEST + 1)
    scale = np.sqrt(sizes * (n - sizes))

    def clearest(rows: Values) -> Values:
        sums = np.cumsum(rows, axis=-1)[..., sizes - 1]
        return np.asarray(np.abs(sums / scale).max(axis=-1), dtype=np.float64)

    rng = np.random.default_rng(_SEED)
    drawn = rng.permuted(np.tile(ranks, (_PERMUTATIONS, 1)), axis=-1)
    as_clear = int((clearest(drawn) >= clearest(ranks) * (1 - 1e-12)).sum())
    return (1 + as_clear) / (1 + _PERMUTATIONS)


def _drift(logs: Values, places: list[int], relevant: float) -> float:
    """Return the ratio of a line's ends if it fits better than the steps (Schwarz's criterion), or NaN."""
    from scipy import stats  # noqa: PLC0415 - who only names a wrong input waits for none of it

    n = logs.size
    slope, middle, _, _ = stats.theilslopes(logs, np.arange(n))
    line = logs - (middle + slope * np.arange(n))
    steps = logs.copy()
    ends = [0, *places, n]
    for begin, end in itertools.pairwise(ends):
        steps[begin:end] -= logs[begin:end].mean()

    def criterion(residuals: Values, parameters: int) -> float:
        return n * math.log(float(residuals @ residuals) / n + 1e-300) + parameters * math.log(n)

    change = float(slope) * (n - 1)
    if abs(change) < math.log1p(relevant) or criterion(line, 2) >= criterion(steps, 2 * len(places) + 1):
        return math.nan
    # A line without a significant trend is no drift.
    trend = stats.kendalltau(np.arange(n), logs)
    return math.exp(change) if float(trend.pvalue) < SIGNIFICANT else math.nan
