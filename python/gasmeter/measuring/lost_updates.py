"""RandomAccess by put and get: estimate of updates lost to other ranks, before a measurement.

An update reads a word and writes it a moment later. Another rank's update that is written in between is lost.
"""

from __future__ import annotations

import math

from gasmeter.arguments.sizes import format_size
from gasmeter.errors import UsageError
from gasmeter.measuring.virtual_blocks import UPDATES_PER_WORD
from gasmeter.sweeps.point import Point
from gasmeter.units import format_duration

__all__ = ["at_risk", "refuse_small_table", "share_of_lost_words"]

_ALLOWED = 0.01
"""Share of words that may be wrong in the end, by HPC Challenge's rule."""
_DEVIATIONS = 3.0
"""Standard deviations by which more words than expected may miss an update."""
_FASTER = 2.0
"""Factor by which blocks may run faster than those that told the pace: perhaps nothing disturbs them."""
_BETWEEN = 0.5
"""Share of an update's time between its read and its write: half of a get and half of a put, which take as long."""
_WORD_BYTES = 8


def share_of_lost_words(words: int, ranks: int, updates: float) -> float:
    """Return the expected share (0 to 1) of table words that miss an update, if all ranks update without a pause."""
    per_update = min(1.0, _BETWEEN * (ranks - 1) / words)
    return -math.expm1(-updates * per_update / words)


def at_risk(point: Point) -> bool:
    """Tell whether ranks may lose each other's updates: RandomAccess by put and get."""
    return point.kernel == "random-access" and point.variant == "put-get"


def refuse_small_table(point: Point, rate: float = 0.0, most: float = 0.0) -> None:
    """Raise UsageError for a table of RandomAccess by put and get too small to pass its own check.

    `rate` and `most` are updates per second of all ranks: `rate` by the wall clock, pauses between blocks included,
    `most` within blocks alone. Without a rate only the prescribed updates count. The error names the
    expected share of lost words and a sufficient table.
    """
    if not at_risk(point):
        return
    words, budget = max(1, point.size_bytes // _WORD_BYTES), point.budget
    seconds = _FASTER * (budget.max_time_s if budget.ci else budget.time_s)
    updates = max(_prescribed(point, words), rate * seconds)
    share = share_of_lost_words(words, point.ranks, updates)
    if _at_most(share, words) <= _ALLOWED:
        return
    enough, later = words, max(updates, most * seconds)
    while _at_most(_share(enough, point.ranks, later), enough) > _ALLOWED:
        enough *= 2
    shorter = f", a --time below {format_duration(seconds / _FASTER)}" if rate else ""
    raise UsageError(
        f"{point.describe()}: the table is too small for {point.ranks} ranks that put and get: in {updates:.2g} updates"
        f" about {share:.1%} of its {words} words lose one, 1% is allowed; allowed:"
        f" --sizes {format_size(enough * _WORD_BYTES).replace('iB', '').replace(' ', '')} or more{shorter},"
        " --variant am",
        format_size(point.size_bytes),
    )


def _share(words: int, ranks: int, updates: float) -> float:
    """Return the expected share of words that miss an update, with no fewer than the prescribed updates."""
    return share_of_lost_words(words, ranks, max(UPDATES_PER_WORD * words, updates))


def _at_most(share: float, words: int) -> float:
    """Return the share of words that miss an update in all but a few of 1000 runs."""
    return share + _DEVIATIONS * math.sqrt(share / words)


def _prescribed(point: Point, words: int) -> int:
    """Return the updates of all ranks before the table is checked, without regard to the pace."""
    budget = point.budget
    if budget.blocks is not None:
        return budget.blocks * (budget.iterations or 1) * point.ranks
    return UPDATES_PER_WORD * words
