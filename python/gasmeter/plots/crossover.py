"""A map of one way against another over size and piece, and the line where they are equal."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm

from gasmeter.errors import UsageError
from gasmeter.plots.style import Chart, Drawing, finish
from gasmeter.units import format_bytes

__all__ = ["crossings", "draw_crossover"]


def _options(text: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in str(text).split(";") if part)


def _piece(text: str) -> float:
    return float(_options(text).get("piece", "8"))


def crossings(pieces: list[float], values: list[float]) -> list[float]:
    """Return where a line through points crosses zero.

    Parameters
    ----------
    pieces : list of float
        Ascending sizes of pieces in bytes.
    values : list of float
        Overhead at each (ratio); missing ones are NaN.

    Returns
    -------
    list of float
        Sizes in bytes, interpolated on a logarithmic axis.
    """
    found = []
    known = [(x, y) for x, y in zip(pieces, values, strict=True) if math.isfinite(y)]
    for (x0, y0), (x1, y1) in itertools.pairwise(known):
        if (y0 > 0) != (y1 > 0):
            share = y0 / (y0 - y1)
            found.append(2 ** (math.log2(x0) + share * (math.log2(x1) - math.log2(x0))))
    return found


def draw_crossover(chart: Chart) -> Drawing:
    """Draw by how much one way is faster than another, over the size of a piece and of the whole.

    Parameters
    ----------
    chart : Chart
        Rows with metric ``overhead`` whose options name a ``piece`` in bytes.

    Returns
    -------
    Drawing
        One panel per conduit: colour is the ratio of bandwidths, the line is where it is 1, the bar across it the 95 %
        interval (of measured points; modelled ones have none).

    Raises
    ------
    UsageError
        If no comparison of pieces is among the rows.
    """
    rows = chart.overhead.assign(piece=[_piece(text) for text in chart.overhead["options"]])
    if rows.empty:
        raise UsageError("nothing to draw as crossover: no comparison; allowed: kernel vis with a reference")
    conduits = list(dict.fromkeys(rows["conduit"]))
    figure = Drawing(figsize=(1.2 + 3.6 * len(conduits), 3.8), layout="constrained")
    panels = figure.subplots(1, len(conduits), squeeze=False)[0]
    ratios = np.log2(1 + rows["value"].clip(lower=-0.99).to_numpy(dtype=float))
    most = max(0.1, float(np.nanmax(np.abs(ratios))))
    norm = TwoSlopeNorm(0.0, -most, most)
    image = None
    for axes, conduit in zip(panels, conduits, strict=True):
        part = rows[rows["conduit"] == conduit]
        table = part.pivot_table(index="size_bytes", columns="piece", values="value", aggfunc="median")
        pieces, sizes = [float(piece) for piece in table.columns], list(table.index)
        image = axes.imshow(
            np.log2(1 + table.clip(lower=-0.99).to_numpy(dtype=float)),
            norm=norm,
            cmap="RdBu",
            origin="lower",
            aspect="auto",
        )
        _draw_line(axes, part, pieces, sizes)
        axes.set_xticks(range(len(pieces)), [format_bytes(int(piece)) for piece in pieces], rotation=45)
        axes.set_yticks(range(len(sizes)), [format_bytes(int(size)) for size in sizes])
        axes.set_xlabel("Piece")
        axes.set_title(f"{conduit} ({', '.join(sorted(set(part['kind'])))})", fontsize="medium")
    panels[0].set_ylabel("Payload")
    if image is not None:
        bar = figure.colorbar(image, ax=list(panels))
        ticks = [tick for tick in bar.get_ticks() if abs(tick) <= most]
        bar.set_ticks(ticks, labels=[f"{2**tick:.2g}" for tick in ticks])
        bar.set_label(f"Bandwidth over that of {rows['reference'].iloc[0]}")
    finish(figure, chart, [])
    return figure


def _draw_line(axes: Axes, part: pd.DataFrame, pieces: list[float], sizes: list[int]) -> None:
    """Mark where the ratio is 1, for every payload, with what the interval allows."""

    def place(piece: float) -> float:
        return float(np.interp(math.log2(piece), [math.log2(p) for p in pieces], range(len(pieces))))

    line: list[tuple[float, float]] = []
    for level, size in enumerate(sizes):
        row = part[part["size_bytes"] == size].sort_values("piece")
        at = crossings(list(row["piece"]), list(row["value"]))
        bounds = [crossings(list(row["piece"]), list(row[name])) for name in ("ci_low", "ci_high")]
        line.extend((place(piece), level) for piece in at[:1])
        ends = [place(found[0]) for found in bounds if found]
        if at and len(ends) == 2:
            axes.plot(ends, [level, level], color="black", linewidth=3, alpha=0.5)
    if line:
        xs, ys = zip(*line, strict=True)
        axes.plot(xs, ys, color="black", marker="o", markersize=3)
