"""Places where a history changes its level: by the rule of `gasmeter check` with noise, exactly without."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gasmeter.guard.changes import find_changes

__all__ = ["FindSteps", "confirmed_steps", "exact_steps"]

FindSteps = Callable[[Sequence[float]], Sequence[int]]
"""Function from the values of a history, oldest first, to the index of the first value behind each step."""


def confirmed_steps(values: Sequence[float]) -> list[int]:
    """Return the index of the first value behind each step that `gasmeter.guard.find_changes` confirms.

    Values are finite, oldest first. A history with values of 0 or less has no steps, as steps are ratios.
    """
    if min(values, default=0.0) <= 0:
        return []
    return [change.index for change in find_changes(values).changes]


def exact_steps(values: Sequence[float]) -> list[int]:
    """Return the index of each value that differs from the one before, be it by one picosecond."""
    return [index for index in range(1, len(values)) if values[index] != values[index - 1]]
