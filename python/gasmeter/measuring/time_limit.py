"""Time limit of a group of points: it kills real ranks that do not answer, and ends the blocks of any group."""

from __future__ import annotations

import math
from collections.abc import Callable

from gasmeter.errors import Timeout
from gasmeter.rows.record import NOT_FINISHED
from gasmeter.sweeps.point import Point
from gasmeter.units import format_duration

__all__ = ["TimeLimit"]

_OPENING_S = 60.0
"""Seconds beyond the limit for ranks to start and to open a point, as many as an MPI's launcher has."""
_SHARE, _LEAST_S = 0.1, 5.0
"""Share of the limit, and least seconds, for the last block and the check of its data on a busy host."""


class TimeLimit:
    """Time limit of a group in seconds of the runner's monotonic clock, without the start of its ranks."""

    def __init__(self, clock: Callable[[], float], seconds: float) -> None:
        self._clock = clock
        self.seconds = seconds
        self.began = clock()
        self._end = self.began + seconds + _OPENING_S

    def begin(self) -> None:
        """Start the limit when every point is open, before the first block."""
        self.began = self._clock()
        self._end = self.began + self.seconds + max(_LEAST_S, _SHARE * self.seconds)

    def left(self) -> float:
        """Return the seconds that the next command to real ranks may take: above 0, even behind the limit."""
        return max(self._end - self._clock(), math.ulp(1.0))

    def ends_before(self, seconds: float) -> bool:
        """Tell whether work of that expected duration would end beyond the limit if it began now."""
        return self._clock() - self.began + seconds > self.seconds

    def line(self, point: Point, error: Timeout) -> str:
        """Return a line about a point that reached its limit, with the limit and the relevant options.

        `error` names the ranks that did not answer.
        """
        return (
            f"{point.describe()}: {NOT_FINISHED} of {format_duration(self.seconds)}: {error}; allowed: a longer"
            " --max-time, fewer --iterations, a smaller size"
        )
