"""The placement probe: how far apart the cores are at this moment.

On virtual machines cores move: a cache line's round trip between the same two cores changes up to tenfold within
minutes. The probe's value is stored with every row, and only blocks between which it moved by less than 15 % are
compared.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from gasmeter.errors import BrokenJob, GasmeterError
from gasmeter.sessions import WorkerPools

__all__ = ["INTERVAL_S", "TOLERANCE", "Probe", "same_state"]

INTERVAL_S = 1.0
"""The probe runs at most once in this time; what is measured in between shares its value."""
TOLERANCE = 0.15
"""Blocks are compared only if the probe moved by no more than this share between them."""
_MILLISECONDS = 50


def same_state(first_ns: float, second_ns: float) -> bool:
    """Return whether two probe values are within `TOLERANCE` of each other.

    Parameters
    ----------
    first_ns, second_ns : float
        Round trips in ns; NaN (no probe possible) counts as the same state.

    Returns
    -------
    bool
        True if the larger is at most 15 % above the smaller.
    """
    if math.isnan(first_ns) or math.isnan(second_ns):
        return True
    larger, smaller = max(first_ns, second_ns), min(first_ns, second_ns)
    return larger <= (1 + TOLERANCE) * smaller or math.isclose(larger, (1 + TOLERANCE) * smaller)


class Probe:
    """Cache-line round trip between two ranks, measured when the last value is too old.

    Parameters
    ----------
    pools : WorkerPools
        Where the two ranks come from.
    clock : callable
        Seconds, monotonic.
    cores : int
        Usable cores; with fewer than two there is nothing to probe.
    """

    def __init__(self, pools: WorkerPools, clock: Callable[[], float] = time.monotonic, cores: int = 2) -> None:
        self._pools = pools
        self._clock = clock
        self._possible = cores >= 2
        self._value_ns = math.nan
        self._taken: float | None = None

    @property
    def due(self) -> bool:
        """Whether the last value is older than `INTERVAL_S`."""
        return self._taken is None or self._clock() - self._taken >= INTERVAL_S

    def value_ns(self) -> float:
        """Return the current value, probing anew if it is due.

        Returns
        -------
        float
            Round trip in ns; NaN where no probe is possible.

        Raises
        ------
        BrokenJob
            If the ranks of the probe died.
        """
        if self._possible and self.due:
            reply = self._pools.get(2).command({"verb": "probe", "milliseconds": str(_MILLISECONDS)})[0]
            if reply.get("status", "ok") != "ok":
                raise BrokenJob(f"probe: {reply.get('message', 'no message')}")
            self._value_ns = float(reply.get("round_trip_ns", "nan"))
            self._taken = self._clock()
        return self._value_ns

    def try_value_ns(self) -> float:
        """Return the current value, or NaN if the probe cannot run.

        Returns
        -------
        float
            Round trip in ns or NaN.
        """
        try:
            return self.value_ns()
        except GasmeterError:
            return math.nan
