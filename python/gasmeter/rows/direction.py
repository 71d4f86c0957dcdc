"""Which way a quantity gets better."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from gasmeter.catalogue import declared

__all__ = ["Direction", "better", "compared_metric"]

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


def compared_metric(row: Mapping[str, Any]) -> str:
    """Return the metric that a row with metric ``overhead`` compares: more than the reference is worse of a time alone.

    Parameters
    ----------
    row : mapping
        With column ``semantics``.

    Returns
    -------
    str
        For instance ``bandwidth``; empty where the row does not say it.

    Examples
    --------
    >>> compared_metric({"semantics": "bandwidth / reference - 1, paired blocks"})
    'bandwidth'
    """
    metric, found, _ = str(row.get("semantics", "")).partition(" / reference")
    return metric if found else ""
