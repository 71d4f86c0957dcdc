"""Quantities of a reading, computed from the lines of a figure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gasmeter.verdicts.expressions import Array, NotThere
from gasmeter.verdicts.predicates import Condition, Reading
from gasmeter.verdicts.series import Curve, SeriesKey, Table, X, pick, said

__all__ = ["Quantities", "lines_of", "points_of", "quantities"]

Quantities = tuple[float, ...]
"""Quantities by condition of a reading, the direction last."""


def lines_of(reading: Reading, table: Table) -> dict[str, SeriesKey | None]:
    """Return the line of a figure that each series of a reading means; None for an optional series that was not run.

    Raises NotThere if another series was not run.
    """
    lines: dict[str, SeriesKey | None] = {}
    for name, key in reading.series.items():
        lines[name] = pick(key, table)
        if lines[name] is None and name not in reading.optional:
            raise NotThere(f"no line {said(key)} in what was run")
    return lines


def quantities(reading: Reading, table: Table) -> Quantities:
    """Return the quantity of every condition in order, the direction last; each over the points that its series share.

    `table` holds the values of lines on one case and placement. Raises NotThere if a quantity cannot be computed.
    """
    lines = lines_of(reading, table)
    curves = {name: None if line is None else table[line] for name, line in lines.items()}
    return tuple(_quantity(condition, curves) for condition in reading.every_condition)


def _quantity(condition: Condition, curves: Mapping[str, Curve | None]) -> float:
    named = {name: curves[name] for name in condition.quantity.names}
    points = _points(condition, named)
    arrays: dict[str, Array | None] = {
        name: None if curve is None else np.array([curve[x] for x in points], dtype=np.float64)
        for name, curve in named.items()
    }
    return condition.quantity.value(arrays, np.array(points, dtype=np.float64))


def _points(condition: Condition, curves: Mapping[str, Curve | None]) -> list[X]:
    """Return the x values that count; raise NotThere if a required one is missing."""
    run = [set(curve) for curve in curves.values() if curve is not None]
    common = set.intersection(*run) if run else set()
    lacking = sorted(set(condition.over) - common)
    if lacking:
        raise NotThere(f"not run at {', '.join(map(str, lacking))}")
    low, high = condition.between
    points = sorted(x for x in (condition.over or common) if low <= x <= high)
    if not points:
        raise NotThere("no common point")
    return points


def points_of(reading: Reading, table: Table) -> set[tuple[SeriesKey, X]]:
    """Return every line and x that a reading looks at; empty if a series was not run."""
    try:
        lines = lines_of(reading, table)
        return {
            (line, x)
            for condition in reading.every_condition
            for x in _points(condition, _curves(condition, lines, table))
            for name in condition.quantity.names
            if (line := lines[name]) is not None
        }
    except NotThere:
        return set()


def _curves(
    condition: Condition, lines: Mapping[str, SeriesKey | None], table: Table
) -> dict[str, Curve | None]:  # fmt: skip
    return {name: None if (line := lines[name]) is None else table[line] for name in condition.quantity.names}
