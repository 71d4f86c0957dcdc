"""Where a protocol ends and another begins: the sizes at which a line of times changes its slope or its offset."""

from __future__ import annotations

import numpy as np

from gasmeter.loggp.curves import Values

__all__ = ["FEWEST", "TOLERANCE", "find_segments"]

FEWEST = 3
"""Sizes of a segment, at least: through two any line goes."""
TOLERANCE = 0.01
"""What a straight line may be off, as a share of the time: polls, padding and caches are no protocols."""


def find_segments(sizes: Values, times: Values, errors: Values) -> list[tuple[int, int]]:
    """Return the ranges of sizes in which times are a straight line.

    Parameters
    ----------
    sizes : numpy.ndarray of float64, shape (n,)
        Ascending, B.
    times : numpy.ndarray of float64, shape (n,)
        In ns.
    errors : numpy.ndarray of float64, shape (n,)
        Standard error of each, ns.

    Returns
    -------
    list of tuple of int
        First index and the one behind the last, of each segment; they cover all sizes.

    Notes
    -----
    The best of all ways to cut the sizes, by the sum of squared deviations in units of the standard error (at least
    `TOLERANCE` of the time), with the Bayesian information criterion as the price of a cut: three numbers, offset,
    slope and place. `ruptures` does the search (PELT, exact for this price; cost ``linear``).
    """
    import ruptures  # noqa: PLC0415 - who only names a wrong input waits for none of it

    n = sizes.size
    if n < 2 * FEWEST:
        return [(0, n)]
    weight = 1.0 / np.maximum(errors, TOLERANCE * np.abs(times) + 1e-9)
    # First the quantity, then what it is made of; all in units of its error.
    signal = np.column_stack([times * weight, weight, sizes / sizes[-1] * weight])
    price = 3.0 * np.log(n) + 6.0
    search = ruptures.Pelt(model="linear", min_size=FEWEST, jump=1).fit(signal)
    ends = [int(end) for end in search.predict(pen=price)]
    return list(zip([0, *ends[:-1]], ends, strict=True))
