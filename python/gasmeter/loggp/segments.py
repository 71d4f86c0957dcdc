"""Boundaries between protocols: the sizes at which a line of times changes its slope or its offset."""

from __future__ import annotations

import numpy as np

from gasmeter.loggp.curves import Values

__all__ = ["FEWEST", "TOLERANCE", "find_segments"]

FEWEST = 3
"""Least sizes of a segment: any line goes through two."""
TOLERANCE = 0.01
"""Tolerated deviation from a straight line, as a share of the time: polls, padding and caches are no protocols."""


def find_segments(sizes: Values, times: Values, errors: Values) -> list[tuple[int, int]]:
    """Return the index ranges, end excluded, in which times (ns) are a straight line; they cover all sizes.

    Among all ways to cut the sizes, the best has the least sum of squared deviations in units of the standard error (at
    least `TOLERANCE` of the time). The Bayesian information criterion prices a cut at three numbers: offset, slope and
    place. `ruptures` searches (PELT, exact for this price; cost ``linear``).
    """
    import ruptures  # noqa: PLC0415 - who only names a wrong input waits for none of it

    n = sizes.size
    if n < 2 * FEWEST:
        return [(0, n)]
    weight = 1.0 / np.maximum(errors, TOLERANCE * np.abs(times) + 1e-9)
    # First the quantity, then its components, all in units of its error.
    signal = np.column_stack([times * weight, weight, sizes / sizes[-1] * weight])
    price = 3.0 * np.log(n) + 6.0
    search = ruptures.Pelt(model="linear", min_size=FEWEST, jump=1).fit(signal)
    ends = [int(end) for end in search.predict(pen=price)]
    return list(zip([0, *ends[:-1]], ends, strict=True))
