"""Which way a quantity gets better."""

from __future__ import annotations

from typing import Literal

__all__ = ["Direction", "better"]

Direction = Literal["smaller", "bigger", "neither"]

_SMALLER = frozenset({"latency", "round_trip", "overhead", "error_fraction", "memory_per_rank"})
_BIGGER = frozenset({"bandwidth", "rate", "gups", "speedup"})


def better(metric: str, unit: str) -> Direction:
    """Return which way a quantity gets better.

    Parameters
    ----------
    metric : str
        Name of the quantity, as in column ``metric``.
    unit : str
        Its unit, as in column ``unit``; decides where the name is not known.

    Returns
    -------
    {"smaller", "bigger", "neither"}
        ``neither`` for what is only counted or stated.

    Examples
    --------
    >>> better("latency", "ns"), better("bandwidth", "B/s"), better("hops", "1")
    ('smaller', 'bigger', 'neither')
    """
    if metric in _SMALLER:
        return "smaller"
    if metric in _BIGGER:
        return "bigger"
    if unit in {"ns", "us", "s", "B"}:
        return "smaller"
    return "bigger" if unit.endswith("/s") else "neither"
