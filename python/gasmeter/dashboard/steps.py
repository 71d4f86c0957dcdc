"""Where a history changes its level: by the rule of `gasmeter check` with noise, exactly without."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gasmeter.guard.changes import find_changes

__all__ = ["FindSteps", "confirmed_steps", "exact_steps"]

FindSteps = Callable[[Sequence[float]], Sequence[int]]
"""Takes the values of a history, oldest first; returns the index of the first value behind each step."""


def confirmed_steps(values: Sequence[float]) -> list[int]:
    """Return where the level of a noisy history changes.

    Parameters
    ----------
    values : sequence of float
        Oldest first, finite.

    Returns
    -------
    list of int
        Index of the first value behind each step that `gasmeter.guard.find_changes` confirms, ascending. Empty for
        histories that are not positive throughout: steps are told in ratios.
    """
    if min(values, default=0.0) <= 0:
        return []
    return [change.index for change in find_changes(values).changes]


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
