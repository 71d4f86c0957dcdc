"""One size, several things: a dot for each, with its interval, in a row of its own."""

from __future__ import annotations

import textwrap

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from gasmeter.plots.looks import KEYS, Look, Looks
from gasmeter.plots.style import Chart, Drawing, cross_out, head_and_foot
from gasmeter.units import format_bytes

__all__ = ["draw_dots", "has_one_size"]

_FEW = 10.0
_ROW_INCHES = 0.27
_FRAME_INCHES = 1.7
_LABEL_LETTERS = (34, 26)  # of a line under the left and the right half
_NAME_LETTERS = 40  # of a row's name that leave both halves as wide as what stands under them
_LETTER_INCHES = 0.08


def has_one_size(chart: Chart) -> bool:
    """Return whether lines against size would be points above each other.

    Parameters
    ----------
    chart : Chart
        Rows of one quantity.

    Returns
    -------
    bool
        Whether there is one size, and more than one thing to compare.
    """
    return chart.values["size_bytes"].nunique() == 1 and len(chart.values) > 1


def draw_dots(chart: Chart, quantity: str, scale: float) -> Drawing:
    """Draw a dot with its interval for each thing that was run; beside them overheads, if anything was compared.

    Parameters
    ----------
    chart : Chart
        Rows of one size.
    quantity : str
        What the horizontal axis shows, with its unit.
    scale : float
        Factor from the rows' unit to the axis'.

    Returns
    -------
    Drawing
        One row for each thing, as high as they need; measured and modelled ones named where there are both.
    """
    looks = Looks(chart.values, set(chart.overhead["reference"]))
    groups = chart.values.groupby(list(KEYS), sort=False)
    rows = [(_look(looks, part), part.iloc[0]) for _, part in groups]
    rows.sort(key=lambda entry: (entry[0].track, entry[0].thin))
    compared = not chart.overhead.empty
    kinds = sorted({str(kind) for kind in chart.values["kind"]})
    names = [look.label + (f" ({row['kind']})" if len(kinds) > 1 else "") for look, row in rows]
    longest = max(map(len, names))
    wide = (8.0 if compared else 6.3) + _LETTER_INCHES * max(0, longest - _NAME_LETTERS)
    figure = Drawing(figsize=(wide, _FRAME_INCHES + _ROW_INCHES * len(rows)), layout="constrained")
    panels = figure.subplots(1, 2 if compared else 1, sharey=True, squeeze=False, width_ratios=[1.5, 1][: 1 + compared])
    left = panels[0][0]
    for place, (look, row) in enumerate(rows):
        _dot(left, place, look, row, scale)
        if compared:
            same = (chart.overhead["run_id"] == row["run_id"]) & (chart.overhead["group"] == row["group"])
            own = chart.overhead[same]
            for _, overhead in own.iterrows():
                _dot(panels[0][1], place, look, overhead, 100.0)
    left.set_yticks(range(len(rows)), names)
    left.set_ylim(len(rows) - 0.5, -0.5)
    values = chart.values["value"].to_numpy(float)
    if values.min() > 0 and values.max() / values.min() > _FEW:
        left.set_xscale("log")
        left.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        left.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.6g}"))
        left.xaxis.set_minor_formatter(NullFormatter())
    else:
        left.set_xlim(left=0)
    size = int(chart.values["size_bytes"].iloc[0])
    said = ", ".join([quantity, *([format_bytes(size)] if size else []), *(kinds if len(kinds) == 1 else [])])
    left.set_xlabel(textwrap.fill(said, _LABEL_LETTERS[0]))
    if compared:
        panels[0][1].axvline(0, color="0.3", linewidth=0.8, zorder=2)
        references = ", ".join(sorted(set(chart.overhead["reference"])))
        panels[0][1].set_xlabel(textwrap.fill(f"Overhead over {references} (%)", _LABEL_LETTERS[1]))
    head_and_foot(figure, chart)
    return figure


def _look(looks: Looks, part: pd.DataFrame) -> Look:
    return looks.look({name: part[name].iloc[0] for name in (*KEYS, "kind")})


def _dot(axes: Axes, place: int, look: Look, row: pd.Series, scale: float) -> None:
    low, high = float(row["ci_low"]) * scale, float(row["ci_high"]) * scale
    if np.isfinite(low) and np.isfinite(high):
        axes.hlines(place, low, high, color=look.colour, lw=4.0, alpha=0.3)
    inside = "white" if row["oversubscribed"] else look.colour
    axes.plot(
        [float(row["value"]) * scale], [place], linestyle="none", color=look.colour, marker=look.marker,
        markersize=4.0 if look.thin else 5.5, markerfacecolor=inside, zorder=4,
    )  # fmt: skip
    cross_out(axes, [float(row["value"]) * scale], [place], [row["state"]])
