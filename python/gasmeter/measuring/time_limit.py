"""The time that real ranks have for a group of points: a block that does not end is ended from outside."""

from __future__ import annotations

import math
from collections.abc import Callable

from gasmeter.errors import Timeout
from gasmeter.rows.record import NOT_FINISHED
from gasmeter.sweeps.point import Point
from gasmeter.units import format_duration

__all__ = ["TimeLimit"]

_OPENING_S = 60.0
"""Seconds beyond the limit for ranks to start and to open a point: an MPI's launcher has as many."""
_SHARE, _LEAST_S = 0.1, 5.0
"""Share of the limit, and least seconds, for a last block and the check of its data to end on a busy host."""


class TimeLimit:
    """When a group's time is over, by the runner's clock.

    Parameters
    ----------
    clock : callable
        Seconds, monotonic.
    seconds : float
        Limit of the whole group, without the start of its ranks.
    """

    def __init__(self, clock: Callable[[], float], seconds: float) -> None:
        self._clock = clock
        self.seconds = seconds
        self.began = clock()
        self._end = self.began + seconds + _OPENING_S

    def begin(self) -> None:
        """Start the limit: every point is open, the first block comes next."""
        self.began = self._clock()
        self._end = self.began + self.seconds + max(_LEAST_S, _SHARE * self.seconds)

    def left(self) -> float:
        """Return the seconds that the next command may take, above 0.

        Returns
        -------
        float
            Infinite where the limit is.
        """
        return max(self._end - self._clock(), math.ulp(1.0))

    def ends_before(self, seconds: float) -> bool:
        """Return whether what takes so long now would end behind the limit.

        Parameters
        ----------
        seconds : float
            Expected duration.

        Returns
        -------
        bool
            True if it had better not begin.
        """
        return self._clock() - self.began + seconds > self.seconds

    def line(self, point: Point, error: Timeout) -> str:
        """Return what a reader is told about a point whose time was over.

        Parameters
        ----------
        point : Point
            Of the group.
        error : Timeout
            Names the ranks that did not answer.

        Returns
        -------
        str
            One line with the limit and the options that matter.
        """
        return (
            f"{point.describe()}: {NOT_FINISHED} of {format_duration(self.seconds)}: {error}; allowed: a longer"
            " --max-time, fewer --iterations, a smaller size"
        )
