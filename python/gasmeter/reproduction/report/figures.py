"""Figures in the report: values with bands, lengths of runs, the paper's own tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gasmeter.reproduction.plan.figure import Figure, Line
from gasmeter.reproduction.plan.planning import Spot
from gasmeter.reproduction.report.bands import Band, bands, derived_bands, derived_values
from gasmeter.reproduction.report.claim_texts import number
from gasmeter.reproduction.report.marks import numbers_of, unit_text
from gasmeter.reproduction.report.panels import quantity_of, said
from gasmeter.units import units_beside
from gasmeter.verdicts.evidence import STEADY
from gasmeter.verdicts.series import X

if TYPE_CHECKING:
    from gasmeter.reproduction.run.running import Reproduction

__all__ = ["lengths_of", "values_of_figure"]

_MANY_BYTES = 1e6


def values_of_figure(reproduction: Reproduction, figure: Figure) -> dict[str, Any]:
    """Return a figure's table: ``heads`` and ``rows`` of cells with ``value`` and ``band``.

    Rows are lines, or x values for a table of the paper.
    """
    effort = reproduction.plan.effort(figure)
    xs: Sequence[X] = [figure.x_of(x, effort) for x in effort.xs]
    heads = [figure.x_text(x, effort) for x in xs]
    rows = []
    every = (*figure.lines, *figure.beside)
    for line in every:
        unit, factor = _published_unit(reproduction, figure, line)
        for placement in figure.placements:
            values = reproduction.values(line, placement)
            if values:
                shown, scale = _scaled(unit, factor, values)
                cells = _cells(xs, values, bands(reproduction, line, placement), scale)
                kind = "modelled" if line.machine else "measured"
                name = said(line, [other for other in every if other.machine == line.machine])
                rows.append(_row(name.removesuffix(" (measured here)"), placement, kind, shown, cells))
    for derived in figure.derived:
        kind = "modelled" if any(line.machine for _, line in derived.lines) else "measured"
        for placement in figure.placements:
            values = derived_values(reproduction, derived, placement)
            if values:
                cells = _cells(xs, values, derived_bands(reproduction, derived, placement), 1.0)
                name = f"{derived.label_y}: {derived.label}"
                rows.append(_row(name, placement, kind, unit_text(derived.unit), cells))
    if figure.table:
        return _turned(figure, heads, rows)
    return {"turned": False, "heads": heads, "rows": rows}


def _row(line: str, placement: str, kind: str, unit: str, cells: list[dict[str, str]]) -> dict[str, Any]:
    return {"line": line, "placement": placement, "kind": kind, "unit": unit, "cells": cells}


def _turned(figure: Figure, heads: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the table in the paper's form: a row for each x, a column for each line."""
    several = len(figure.placements) > 1
    columns = [
        {
            "line": f"{row['line']}, {row['placement']}" if several else row["line"],
            "kind": row["kind"],
            "unit": row["unit"],
        }
        for row in rows
    ]
    turned = [{"line": head, "cells": [row["cells"][at] for row in rows]} for at, head in enumerate(heads)]
    return {"turned": True, "axis": figure.axis.replace("_", " "), "heads": columns, "rows": turned if rows else []}


def _published_unit(reproduction: Reproduction, figure: Figure, line: Line) -> tuple[str, float]:
    """Return the paper's unit for a line and the factor to it; else the metric's own."""
    quantity = quantity_of(line)
    beside = units_beside(quantity.shown)
    for entry in reproduction.judged:
        stated = entry.claim.unit
        if entry.figure == figure and numbers_of(entry.claim) and stated in beside and quantity.shown in beside:
            return unit_text(stated), quantity.scale * float(beside[quantity.shown] / beside[stated])
    return unit_text(quantity.shown), quantity.scale


def _scaled(unit: str, factor: float, values: Mapping[X, float]) -> tuple[str, float]:
    """Return a larger unit for a row of bytes with long numbers, and the factor to it; else the row's own."""
    most = max((abs(factor * value) for value in values.values() if math.isfinite(value)), default=0.0)
    return ("MiB", factor / 2**20) if unit == "B" and most >= _MANY_BYTES else (unit, factor)


def _cells(xs: Sequence[X], values: Mapping[X, float], bands: Mapping[X, Band], factor: float) -> list[dict[str, str]]:
    return [
        {
            "value": number(factor * values.get(x, math.nan)),
            "band": f"{number(factor * bands[x][1])} to {number(factor * bands[x][2])}" if x in bands else "",
        }
        for x in xs
    ]


def lengths_of(reproduction: Reproduction, figure: Figure) -> list[dict[str, str]]:
    """Return the length of each line's runs, and how much four times the work moves it, by line and placement."""
    effort, gathered = reproduction.plan.effort(figure), reproduction.gathered
    every = (*figure.lines, *figure.beside)
    xs = [figure.x_of(x, effort) for x in effort.xs]
    rows = []
    for line in every:
        for placement in figure.placements:
            keys = [(placement, Spot(line, x)) for x in xs]
            lengths = [gathered.lengths[key] for key in keys if key in gathered.lengths]
            moves = [(abs(gathered.moves[key]), key[1].x) for key in keys if key in gathered.moves]
            if not lengths or not line.machine:
                continue
            most, x = max(moves, default=(math.nan, 0))
            rows.append(
                {
                    "line": said(line, every),
                    "placement": placement,
                    "length": str(lengths[0]) if len(set(lengths)) == 1 else f"{min(lengths)} to {max(lengths)}",
                    "moved": f"{100 * most:.2f} % at {figure.x_text(x, effort)}" if moves else "",
                    "steady": ("yes" if most < STEADY else "no") if moves else "not tried",
                }
            )
    return rows
