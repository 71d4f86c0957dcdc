"""Where 90 % of the draws lie, of lines and of what is made of lines: one band for tables and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gasmeter.reproduction.figure import Derived, Line
from gasmeter.verdicts.chances import interval
from gasmeter.verdicts.expressions import Array, NotThere
from gasmeter.verdicts.judging import FEWEST_EFFECTIVE
from gasmeter.verdicts.series import Curve, X

if TYPE_CHECKING:
    from gasmeter.reproduction.running import Reproduction

__all__ = ["Band", "band", "bands", "derived_bands", "derived_values"]

Band = tuple[float, float, float]
"""Median, low, high."""


def bands(reproduction: Reproduction, line: Line, placement: str) -> dict[X, Band]:
    """Return where a line lies on the draws.

    Parameters
    ----------
    reproduction : Reproduction
        What was run.
    line : Line
        Which.
    placement : str
        The draws that had this one.

    Returns
    -------
    dict of X to tuple of float
        Median, low and high of its values; no x at which no draw was run.
    """
    return _over([lines[line] for lines in _draws(reproduction, placement, [line]) if line in lines])


def band(reproduction: Reproduction, line: Line, placement: str, x: X) -> Band | None:
    """Return where a line lies on the draws at one x.

    Parameters
    ----------
    reproduction : Reproduction
        What was run.
    line : Line
        Which.
    placement : str
        The draws that had this one.
    x : X
        Where on the axis.

    Returns
    -------
    tuple of float or None
        Median, low and high; None if no draw was run there.
    """
    return bands(reproduction, line, placement).get(x)


def derived_values(reproduction: Reproduction, derived: Derived, placement: str) -> dict[X, float]:
    """Return what a line that is made of others comes to as given.

    Parameters
    ----------
    reproduction : Reproduction
        What was run.
    derived : Derived
        How it is made.
    placement : str
        On which placement.

    Returns
    -------
    dict of X to float
        At every x that all of its lines have; empty if one of them was not run.
    """
    return _derive(derived, {line: reproduction.values(line, placement) for _, line in derived.lines})


def derived_bands(reproduction: Reproduction, derived: Derived, placement: str) -> dict[X, Band]:
    """Return where a line that is made of others lies on the draws: each draw's own lines make its own value.

    Parameters
    ----------
    reproduction : Reproduction
        What was run.
    derived : Derived
        How it is made.
    placement : str
        The draws that had this one.

    Returns
    -------
    dict of X to tuple of float
        Median, low and high.
    """
    lines = [line for _, line in derived.lines]
    return _over([_derive(derived, table) for table in _draws(reproduction, placement, lines)])


def _draws(reproduction: Reproduction, placement: str, lines: Iterable[Line]) -> Iterator[Mapping[Line, Curve]]:
    """Give the draws on a placement that decide for some lines, as verdicts have it; none that a machine refuses."""
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
        made = derived.formula.curve({**arrays, "x": along}, along)
    except NotThere:
        return {}
    return {x: float(value) for x, value in zip(xs, made, strict=True) if np.isfinite(value)}
