"""Draws: which are chosen by their weights, shares, quantiles, how many really count, what decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["choose", "effective", "interval", "rank_correlations", "share"]

Array = npt.NDArray[np.float64]


def share(holds: Sequence[bool]) -> float:
    """Return the share of the draws on which something holds.

    Parameters
    ----------
    holds : sequence of bool
        By draw; at least one.

    Returns
    -------
    float
        0 to 1.
    """
    return sum(holds) / len(holds)


def effective(weights: Sequence[float] | Array) -> float:
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


def choose(weights: Sequence[float] | Array, count: int, seed: int) -> list[int]:
    """Choose draws, each as often as its weight asks for (systematic resampling), in an order of no meaning.

    Parameters
    ----------
    weights : sequence of float
        0 or more, by candidate, not all 0.
    count : int
        How many.
    seed : int
        Of the offset and of the order.

    Returns
    -------
    list of int
        Numbers of candidates: of each its share of the weight, rounded up or down.
    """
    generator = np.random.default_rng(seed)
    edges = np.cumsum(np.asarray(weights, dtype=np.float64))
    at = (generator.random() + np.arange(count)) / count * edges[-1]
    chosen = np.searchsorted(edges, at, side="right")
    return [int(one) for one in generator.permutation(np.minimum(chosen, edges.size - 1))]


def interval(values: Sequence[float], coverage: float = 0.9) -> tuple[float, float, float]:
    """Return the middle and the ends of what most draws lie in.

    Parameters
    ----------
    values : sequence of float
        By draw.
    coverage : float, default 0.9
        How much of them lies between the ends.

    Returns
    -------
    tuple of float
        Median, low, high.
    """
    wanted = (0.5, (1 - coverage) / 2, (1 + coverage) / 2)
    median, low, high = np.quantile(np.asarray(values, dtype=np.float64), wanted, method="hazen")
    return float(median), float(low), float(high)


def rank_correlations(estimates: Sequence[Mapping[str, float]], values: Sequence[float]) -> dict[str, float]:
    """Return how strongly each estimate and a quantity rise together (Spearman).

    Parameters
    ----------
    estimates : sequence of mapping of str to float
        By draw: what each estimate is.
    values : sequence of float
        By draw: the quantity.

    Returns
    -------
    dict of str to float
        -1 to 1 by estimate, the strongest first; none where nothing moves.
    """
    names = sorted(set.intersection(*(set(one) for one in estimates))) if estimates else []
    target = _standard(values)
    found: dict[str, float] = {}
    if target is None:
        return found
    for name in names:
        ranks = _standard([one[name] for one in estimates])
        if ranks is not None:
            found[name] = float(np.mean(ranks * target))
    return dict(sorted(found.items(), key=lambda item: -abs(item[1])))


def _standard(values: Sequence[float]) -> Array | None:
    """Return ranks with mean 0 and variance 1; None if they are all the same."""
    from scipy import stats  # noqa: PLC0415 - who only names a wrong input waits for none of it

    ranks: Array = stats.rankdata(values)
    spread = float(np.std(ranks))
    return (ranks - np.mean(ranks)) / spread if spread > 0 else None
