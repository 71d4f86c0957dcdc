"""Draws and their weights: shares, quantiles, how many draws really count, what decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from scipy import stats

__all__ = ["effective", "interval", "rank_correlations", "share"]

Array = npt.NDArray[np.float64]


def share(holds: Sequence[bool], weights: Sequence[float]) -> float:
    """Return the weight of the draws on which something holds, of all.

    Parameters
    ----------
    holds : sequence of bool
        By draw.
    weights : sequence of float
        Likewise, 0 or more, not all 0.

    Returns
    -------
    float
        0 to 1.
    """
    return float(np.average(np.asarray(holds, dtype=np.float64), weights=np.asarray(weights)))


def effective(weights: Sequence[float]) -> float:
    """Return how many equally weighted draws would say as much (Kish).

    Parameters
    ----------
    weights : sequence of float
        0 or more.

    Returns
    -------
    float
        0 if all are 0, at most their number.
    """
    array = np.asarray(weights, dtype=np.float64)
    square = float(np.sum(array**2))
    return float(np.sum(array) ** 2 / square) if square > 0 else 0.0


def interval(values: Sequence[float], weights: Sequence[float], coverage: float = 0.9) -> tuple[float, float, float]:
    """Return the middle and the ends of what most of the weight lies in.

    Parameters
    ----------
    values, weights : sequence of float
        By draw.
    coverage : float, default 0.9
        How much of the weight lies between the ends.

    Returns
    -------
    tuple of float
        Median, low, high: weighted quantiles, each draw standing for the middle of its own weight.
    """
    order = np.argsort(values)
    ordered, own = np.asarray(values)[order], np.asarray(weights)[order]
    middle = (np.cumsum(own) - own / 2) / np.sum(own)
    wanted = (0.5, (1 - coverage) / 2, (1 + coverage) / 2)
    median, low, high = np.interp(wanted, middle, ordered)
    return float(median), float(low), float(high)


def rank_correlations(
    estimates: Sequence[Mapping[str, float]], values: Sequence[float], weights: Sequence[float]
) -> dict[str, float]:
    """Return how strongly each estimate and a quantity rise together (Spearman, weighted).

    Parameters
    ----------
    estimates : sequence of mapping of str to float
        By draw: what each estimate is.
    values : sequence of float
        By draw: the quantity.
    weights : sequence of float
        Of the draws.

    Returns
    -------
    dict of str to float
        -1 to 1 by estimate, the strongest first; none where nothing moves.
    """
    names = sorted(set.intersection(*(set(one) for one in estimates))) if estimates else []
    own = np.asarray(weights, dtype=np.float64)
    target = _standard(stats.rankdata(values), own)
    if target is None:
        return {}
    found: dict[str, float] = {}
    for name in names:
        ranks = _standard(stats.rankdata([one[name] for one in estimates]), own)
        if ranks is not None:
            found[name] = float(np.average(ranks * target, weights=own))
    return dict(sorted(found.items(), key=lambda item: -abs(item[1])))


def _standard(ranks: Array, weights: Array) -> Array | None:
    """Return ranks with mean 0 and variance 1 under the weights; None if they are all the same."""
    centred = ranks - np.average(ranks, weights=weights)
    variance = float(np.average(centred**2, weights=weights))
    return centred / np.sqrt(variance) if variance > 0 else None
