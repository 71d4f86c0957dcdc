"""Direction in which a quantity gets better."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from gasmeter.catalogue import declared

__all__ = ["Direction", "better", "compared_metric"]

Direction = Literal["smaller", "bigger", "neither"]


def better(metric: str, unit: str) -> Direction:
    """Return which way a quantity gets better; the unit decides for unknown names.

    ``neither`` is the answer for pure counts and statements.
    """
    if (declared_metric := declared().metrics.get(metric)) is not None:
        return declared_metric.better
    if unit in {"ns", "us", "s", "B"}:
        return "smaller"
    return "bigger" if unit.endswith("/s") else "neither"


def compared_metric(row: Mapping[str, Any]) -> str:
    """Return the metric that a row with metric ``overhead`` compares, for instance ``bandwidth``; empty if unknown.

    Above the reference is worse only for a time.
    """
    metric, compared, _ = str(row.get("semantics", "")).partition(" / reference")
    return metric if compared else ""
