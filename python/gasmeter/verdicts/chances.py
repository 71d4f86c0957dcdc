"""Arithmetic on draws: choice by weight, shares, quantiles, number of effective draws, rank correlations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["choose", "effective", "interval", "rank_correlations", "share"]

Array = npt.NDArray[np.float64]


def share(holds: Sequence[bool]) -> float:
    """Return the share of the draws on which a statement holds, from 0 to 1; `holds` has at least one draw."""
    return sum(holds) / len(holds)


def effective(weights: Sequence[float] | Array) -> float:
    """Return the number of equally weighted draws that tell as much as these (Kish).

    Weights are 0 or more. The result is 0 if all are 0, and at most their number.
    """
    array = np.asarray(weights, dtype=np.float64)
    square = float(np.sum(array**2))
    return float(np.sum(array) ** 2 / square) if square > 0 else 0.0


def choose(weights: Sequence[float] | Array, count: int, seed: int) -> list[int]:
    """Choose `count` candidates, each as often as its weight asks for, in a random order (systematic resampling).

    Weights are 0 or more, and some are above 0. `seed` decides the offset and the order. Return the numbers of the
    candidates: each stands there by its share of the weight, rounded up or down.
    """
    generator = np.random.default_rng(seed)
    edges = np.cumsum(np.asarray(weights, dtype=np.float64))
    at = (generator.random() + np.arange(count)) / count * edges[-1]
    chosen = np.searchsorted(edges, at, side="right")
    return [int(place) for place in generator.permutation(np.minimum(chosen, edges.size - 1))]


def interval(values: Sequence[float], coverage: float = 0.9) -> tuple[float, float, float]:
    """Return the median of the values, and the low and the high end of the range that holds `coverage` of them."""
    wanted = (0.5, (1 - coverage) / 2, (1 + coverage) / 2)
    median, low, high = np.quantile(np.asarray(values, dtype=np.float64), wanted, method="hazen")
    return float(median), float(low), float(high)


def rank_correlations(estimates: Sequence[Mapping[str, float]], values: Sequence[float]) -> dict[str, float]:
    """Return how strongly each estimate and a quantity rise together (Spearman).

    `estimates` and `values` are by draw. The result is -1 to 1 by estimate, the strongest first. Estimates that all
    draws share are left out; it is empty if the quantity is the same on all draws.
    """
    names = sorted(set.intersection(*(set(drawn) for drawn in estimates))) if estimates else []
    target = _standard(values)
    correlations: dict[str, float] = {}
    if target is None:
        return correlations
    for name in names:
        ranks = _standard([drawn[name] for drawn in estimates])
        if ranks is not None:
            correlations[name] = float(np.mean(ranks * target))
    return dict(sorted(correlations.items(), key=lambda item: -abs(item[1])))


def _standard(values: Sequence[float]) -> Array | None:
    """Return ranks with mean 0 and variance 1; None if they are all the same."""
    from scipy import stats  # noqa: PLC0415 - slow to import

    ranks: Array = stats.rankdata(values)
    spread = float(np.std(ranks))
    return (ranks - np.mean(ranks)) / spread if spread > 0 else None
