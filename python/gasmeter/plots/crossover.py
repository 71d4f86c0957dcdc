"""A map of one way against another over size and piece, and the line of equality."""

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
    """Return the sizes in bytes at which a line of log ratios crosses zero, interpolated on a logarithmic axis.

    Logarithms put twice and half as fast at the same distance from zero; missing values are NaN.
    """
    places = []
    finite = [(x, y) for x, y in zip(pieces, values, strict=True) if math.isfinite(y)]
    for (x0, y0), (x1, y1) in itertools.pairwise(finite):
        if (y0 > 0) != (y1 > 0):
            share = y0 / (y0 - y1)
            places.append(2 ** (math.log2(x0) + share * (math.log2(x1) - math.log2(x0))))
    return places


def _logarithm(overhead: pd.Series) -> pd.Series:
    return pd.Series(np.log2(1 + overhead.clip(lower=-0.99).to_numpy(dtype=float)), index=overhead.index)


def _end(pieces: list[float], values: list[float], *, falls: bool) -> float:
    """Return where a bound of the ratio crosses the line, or the edge of the map, or a place beyond."""
    if places := crossings(pieces, values):
        return places[0]
    above = next((value > 0 for value in values if math.isfinite(value)), None)
    if above is None:
        return math.nan
    return math.inf if above == falls else 0.0


def draw_crossover(chart: Chart) -> Drawing:
    """Draw how much faster one way is than another, over the size of a piece and of the whole.

    Each conduit has a panel: colour is the ratio of bandwidths, the line marks a ratio of 1, the bar across it is the
    95 % interval of measured points. A bar at the edge has no end on the map. Raises UsageError without comparisons
    whose options name a ``piece``.
    """
    rows = chart.overhead.assign(piece=[_piece(text) for text in chart.overhead["options"]])
    if rows.empty:
        raise UsageError("nothing to draw as crossover: no comparison; allowed: kernel vis with a reference")
    conduits = list(dict.fromkeys(rows["conduit"]))
    figure = Drawing(figsize=(1.2 + 3.6 * len(conduits), 3.8), layout="constrained")
    panels = figure.subplots(1, len(conduits), squeeze=False)[0]
    rows = rows.assign(**{name: _logarithm(rows[name]) for name in ("value", "ci_low", "ci_high")})
    most = max(0.1, float(np.nanmax(np.abs(rows["value"]))))
    norm = TwoSlopeNorm(0.0, -most, most)
    image = None
    for axes, conduit in zip(panels, conduits, strict=True):
        part = rows[rows["conduit"] == conduit]
        table = part.pivot_table(index="size_bytes", columns="piece", values="value", aggfunc="median")
        pieces, sizes = [float(piece) for piece in table.columns], list(table.index)
        image = axes.imshow(
            table.to_numpy(dtype=float),
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
    drawn = {artist.get_label(): artist for axes in panels for artist in axes.lines if artist.get_label()[0] != "_"}
    if drawn:
        panels[0].legend(
            handles=list(drawn.values()), loc="upper center", bbox_to_anchor=(0.5, -0.32), ncols=2, fontsize="small"
        )
    finish(figure, chart, [])
    return figure


def _draw_line(axes: Axes, part: pd.DataFrame, pieces: list[float], sizes: list[int]) -> None:
    """Mark where the ratio is 1 for every payload, with the range that the interval allows."""

    def place(piece: float) -> float:
        if piece in {0.0, math.inf}:
            return -0.5 if piece == 0.0 else len(pieces) - 0.5
        return float(np.interp(math.log2(piece), [math.log2(p) for p in pieces], range(len(pieces))))

    line: list[tuple[float, float]] = []
    bar_label = "its 95 % interval"
    for level, size in enumerate(sizes):
        row = part[part["size_bytes"] == size].sort_values("piece")
        at = crossings(list(row["piece"]), list(row["value"]))
        if not at:
            continue
        line.append((place(at[0]), level))
        falls = bool(row["value"].dropna().iloc[0] > 0)
        ends = [_end(list(row["piece"]), list(row[name]), falls=falls) for name in ("ci_low", "ci_high")]
        if ends[0] != ends[1] and not any(math.isnan(end) for end in ends):
            across = [place(end) for end in ends]
            axes.plot(across, [level, level], color="black", linewidth=3, alpha=0.5, label=bar_label)
            bar_label = "_"
    if line:
        xs, ys = zip(*line, strict=True)
        axes.plot(xs, ys, color="black", marker="o", markersize=3, label="both equal")
    axes.set_xlim(-0.5, len(pieces) - 0.5)
    axes.grid(visible=False)
