"""Which way a quantity gets better."""

from __future__ import annotations

from typing import Literal

from gasmeter.catalogue import declared

__all__ = ["Direction", "better"]

Direction = Literal["smaller", "bigger", "neither"]


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
    if (known := declared().metrics.get(metric)) is not None:
        return known.better
    if unit in {"ns", "us", "s", "B"}:
        return "smaller"
    return "bigger" if unit.endswith("/s") else "neither"
