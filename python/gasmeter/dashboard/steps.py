"""Where a history changes its level.

`change_points` is a plain default that needs no library: it cuts where the ranks of the values differ most before and
after, and keeps a cut only if shuffled values hardly ever give one as deep. Whoever has a better one hands it to
`write_dashboard`: any function of values that returns the index of the first value behind each step.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import rankdata

__all__ = ["FindSteps", "change_points", "exact_steps"]

FindSteps = Callable[[Sequence[float]], Sequence[int]]
"""Takes the values of a history, oldest first; returns the index of the first value behind each step."""

_SHUFFLES = 199
_LEAST = 4


def change_points(values: Sequence[float], *, share: float = 0.01, relevance: float = 0.01) -> list[int]:
    """Return where the level of a noisy history changes.

    Parameters
    ----------
    values : sequence of float
        Oldest first, finite.
    share : float, default 0.01
        A step is kept if at most this share of shuffled histories has one as deep, 0 to 1.
    relevance : float, default 0.01
        Least change of the median, relative to the median before.

    Returns
    -------
    list of int
        Index of the first value behind each step, ascending; at least four values lie on either side.

    Notes
    -----
    Binary segmentation by a CUSUM of ranks (Pettitt's statistic, weighted for the position of the cut): outliers count
    as one value each. The shuffles are seeded, so that the same history gives the same steps.
    """
    data = np.asarray(values, dtype=np.float64)
    found: list[int] = []
    waiting = [(0, data.size)]
    rng = np.random.default_rng(20100)
    while waiting:
        start, end = waiting.pop()
        cut = _cut(data[start:end], rng, share)
        if cut:
            found.append(start + cut)
            waiting += [(start, start + cut), (start + cut, end)]
    return _relevant(data, sorted(found), relevance)


def exact_steps(values: Sequence[float]) -> list[int]:
    """Return where numbers without noise differ from the one before, be it by one picosecond.

    Parameters
    ----------
    values : sequence of float
        Oldest first.

    Returns
    -------
    list of int
        Index of each value that differs from the one before.
    """
    return [index for index in range(1, len(values)) if values[index] != values[index - 1]]


def _cut(data: np.ndarray[tuple[int], np.dtype[np.float64]], rng: np.random.Generator, share: float) -> int:
    """Return the deepest cut if it is deeper than chance has it, else 0."""
    n = data.size
    if n < 2 * _LEAST:
        return 0
    ranks = rankdata(data) - (n + 1) / 2
    sides = np.arange(_LEAST, n - _LEAST + 1)
    weight = 1 / np.sqrt(sides * (n - sides))
    depth = np.abs(np.cumsum(ranks)[_LEAST - 1 : n - _LEAST]) * weight
    shuffled = rng.permuted(np.tile(ranks, (_SHUFFLES, 1)), axis=1)
    chance = (np.abs(np.cumsum(shuffled, axis=1)[:, _LEAST - 1 : n - _LEAST]) * weight).max(axis=1)
    as_deep = (1 + int((chance >= depth.max()).sum())) / (1 + _SHUFFLES)
    return int(sides[int(depth.argmax())]) if as_deep <= share else 0


def _relevant(data: np.ndarray[tuple[int], np.dtype[np.float64]], found: list[int], relevance: float) -> list[int]:
    """Return the steps whose medians differ enough; the smallest that does not goes first."""
    kept = list(found)
    while kept:
        edges = [0, *kept, data.size]
        levels = [float(np.median(data[start:end])) for start, end in itertools.pairwise(edges)]
        moves = [
            abs(after - before) / abs(before) if before else np.inf for before, after in itertools.pairwise(levels)
        ]
        least = int(np.argmin(moves))
        if moves[least] >= relevance:
            return kept
        del kept[least]
    return kept
