"""The state of a row: whether its value is reliable, in one word."""

from __future__ import annotations

from collections.abc import Iterable

from gasmeter.statistics import FEWEST_BLOCKS, Interval

__all__ = ["GOOD", "NOISY", "STATES", "state_of", "states_line", "worst"]

STATES = ("moved", "few blocks", "load", "noisy", "good")
"""States, the worst first. moved: most blocks were left out since the cores moved. few blocks: fewer than six are left,
so that there is no interval. load: other programs took processors that the ranks needed. noisy: half the interval
exceeds 10 %. good: none of these. Other lists hold some of them: ``_UNRELIABLE`` in `gasmeter.measuring.bisecting`,
``_DISTURBED`` in `gasmeter.guard.stores`, the colours in `gasmeter.rendering.terminal`, and ``schemas/row.json``."""
GOOD = "good"
NOISY = 0.1
"""A row is noisy if half its interval is a larger share of its value."""
_MOST_LEFT_OUT = 0.5


def state_of(interval: Interval, scale: float, *, modelled: bool, left_out: float, loaded: bool) -> str:
    """Return the first of `STATES` that applies to a row.

    `scale` is the yardstick of the interval: the value itself, the ratio for an overhead, the reference for a
    difference. `left_out` is the share of blocks left out since the cores moved. `loaded` tells whether other programs
    took processors that the ranks needed. Virtual time has no disturbance.
    """
    if left_out > _MOST_LEFT_OUT and not modelled:
        return "moved"
    if interval.n < (1 if modelled else FEWEST_BLOCKS):
        return "few blocks"
    if modelled:
        return GOOD
    if loaded:
        return "load"
    return "noisy" if interval.high - interval.low > 2 * NOISY * abs(scale) else GOOD


def worst(states: Iterable[str]) -> str:
    """Return the worst of some states; empty if none is known. Old rows without a state have an empty text."""
    return min(filter(None, states), key=STATES.index, default="")


def states_line(states: Iterable[str]) -> str:
    """Return the states of rows in a few words: ``12 of 14 rows good, 2 noisy``; empty if none is known."""
    rated = [state for state in states if state]
    counts = {state: rated.count(state) for state in STATES if state in rated}
    good = counts.pop(GOOD, 0)
    if not counts:
        return (f"all {good} rows good" if good > 1 else "1 row good") if rated else ""
    return ", ".join([f"{good} of {len(rated)} rows good", *(f"{count} {state}" for state, count in counts.items())])
