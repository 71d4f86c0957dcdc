"""Range of 90 % of the draws for lines and derived lines: one band for tables and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gasmeter.reproduction.plan.figure import Derived, Line
from gasmeter.verdicts.chances import interval
from gasmeter.verdicts.expressions import Array, NotThere
from gasmeter.verdicts.judging import FEWEST_EFFECTIVE
from gasmeter.verdicts.series import Curve, X

if TYPE_CHECKING:
    from gasmeter.reproduction.run.running import Reproduction

__all__ = ["Band", "band", "bands", "derived_bands", "derived_values"]

Band = tuple[float, float, float]
"""Median, low, high."""


def bands(reproduction: Reproduction, line: Line, placement: str) -> dict[X, Band]:
    """Return median, low and high of a line on the draws with that placement, by x; x without a draw is missing."""
    return _over([lines[line] for lines in _draws(reproduction, placement, [line]) if line in lines])


def band(reproduction: Reproduction, line: Line, placement: str, x: X) -> Band | None:
    """Return median, low and high of a line on the draws at one x; None without a draw there."""
    return bands(reproduction, line, placement).get(x)


def derived_values(reproduction: Reproduction, derived: Derived, placement: str) -> dict[X, float]:
    """Return a derived line's values as given, at every x that all its lines have; empty if one was not run."""
    return _derive(derived, {line: reproduction.values(line, placement) for _, line in derived.lines})


def derived_bands(reproduction: Reproduction, derived: Derived, placement: str) -> dict[X, Band]:
    """Return median, low and high of a derived line by x; each draw's own lines make its value."""
    lines = [line for _, line in derived.lines]
    return _over([_derive(derived, table) for table in _draws(reproduction, placement, lines)])


def _draws(reproduction: Reproduction, placement: str, lines: Iterable[Line]) -> Iterator[Mapping[Line, Curve]]:
    """Return the deciding draws on a placement for some lines, as verdicts use them, without refused ones."""
    machines = tuple(dict.fromkeys(line.machine for line in lines if line.machine))
    seen, tables = reproduction.seen, reproduction.gathered.tables
    conditioned = any(role == "draw" for role, _, _ in tables) and seen.choice.worth(machines) >= FEWEST_EFFECTIVE
    deciding = "draw" if conditioned else "prior"
    for (role, case, where), table in tables.items():
        if role == deciding and where == placement and case not in seen.refused:
            yield table


def _over(drawn: Sequence[Mapping[X, float]]) -> dict[X, Band]:
    xs = sorted({x for curve in drawn for x in curve})
    return {x: interval([curve[x] for curve in drawn if x in curve]) for x in xs}


def _derive(derived: Derived, table: Mapping[Line, Curve]) -> dict[X, float]:
    curves = {name: table.get(line, {}) for name, line in derived.lines}
    xs = sorted(set.intersection(*(set(curve) for curve in curves.values())) if curves else set())
    if not xs:
        return {}
    along = np.array(xs, dtype=np.float64)
    arrays: dict[str, Array | None] = {
        name: np.array([curve[x] for x in xs], dtype=np.float64) for name, curve in curves.items()
    }
    try:
        values = derived.formula.curve({**arrays, "x": along}, along)
    except NotThere:
        return {}
    return {x: float(value) for x, value in zip(xs, values, strict=True) if np.isfinite(value)}
