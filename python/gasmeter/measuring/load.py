"""Load of other programs on the measured processors during a run."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Mapping

import psutil

from gasmeter.environment.limits import cpus

__all__ = ["Load", "disturbs"]

_SHORTEST_S = 0.2
"""The system counts in steps of 10 ms, too coarse for less."""
_SPARE = 0.25
"""Share of a processor that others may take although none is free: the system itself has to run, too."""


def disturbs(others: float, ranks: int, processors: int) -> bool:
    """Tell whether other programs left fewer processors than ranks need, by more than a quarter of one.

    NaN in `others` means unknown and counts as undisturbed.
    """
    return others > max(0, processors - ranks) + _SPARE


class Load:
    """Count how many of the usable processors other programs occupy, from construction on.

    `ranks` returns the process numbers of the ranks and is called at both ends.
    """

    def __init__(self, ranks: Callable[[], Iterable[int]]) -> None:
        self._ranks = ranks
        self._began, self._busy_s = time.monotonic(), _busy_s()
        self._own_s, self._of_ranks = _own_s(), _of(ranks())

    def others(self) -> float:
        """Return the mean number of processors that other programs or a hypervisor took; NaN within the first 0.2 s."""
        seconds = time.monotonic() - self._began
        if seconds < _SHORTEST_S:
            return math.nan
        ours = _own_s() - self._own_s
        ours += sum(now - self._of_ranks.get(rank, 0.0) for rank, now in _of(self._ranks()).items())
        return max(0.0, (_busy_s() - self._busy_s - ours) / seconds)


def _busy_s() -> float:
    every = psutil.cpu_times(percpu=True)
    mine = (every[cpu] for cpu in cpus() if cpu < len(every))
    return sum(times.user + times.nice + times.system + times.irq + times.softirq + times.steal for times in mine)


def _own_s() -> float:
    spent = os.times()  # it includes children that have ended: the probe
    return spent.user + spent.system + spent.children_user + spent.children_system


def _of(ranks: Iterable[int]) -> Mapping[int, float]:
    seconds: dict[int, float] = {}
    for rank in ranks:
        try:
            spent = psutil.Process(rank).cpu_times()
        except psutil.Error:
            continue
        seconds[rank] = spent.user + spent.system
    return seconds
