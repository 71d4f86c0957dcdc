"""A size, several things: a dot for each, with its interval, in a row of its own."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator

from gasmeter.plots.comparisons import comparison_label, is_speed, log_marks, scale_comparison
from gasmeter.plots.looks import KEYS, Look, Looks
from gasmeter.plots.palette import marker_of, of_conduit, owner
from gasmeter.plots.style import Chart, Drawing, cross_out, head_and_foot, quantity_axis

__all__ = ["draw_dots", "has_one_size"]

_FEW = 10.0
_ROW_INCHES = 0.27
_FRAME_INCHES = 1.7
_LABEL_LETTERS = (34, 26)  # letters of a line under the left and the right half
_NAME_LETTERS = 40  # most letters of a row's name that leave both halves as wide as the text under them
_LETTER_INCHES, _SMALL_LETTER_INCHES = 0.08, 0.055


def has_one_size(chart: Chart) -> bool:
    """Tell whether lines against size would be single points above each other: one size, several things."""
    return chart.values["size_bytes"].nunique() == 1 and len(chart.values) > 1


def draw_dots(chart: Chart, quantity: str) -> Drawing:
    """Draw a dot with its interval for each thing that ran, and comparisons beside the dots.

    `quantity` is on the horizontal axis. Measured and modelled rows are named if there are both.
    """
    looks = Looks(chart.values, set(chart.overhead["reference"]))
    groups = chart.values.groupby(list(KEYS), sort=False)
    rows = [(_look(looks, part), part.iloc[0]) for _, part in groups]
    conduits = list(dict.fromkeys(owner(str(row["conduit"])) for _, row in rows))
    # Order of measurement within a conduit: compared things stand together.
    rows.sort(key=lambda entry: conduits.index(owner(str(entry[1]["conduit"]))))
    compared = not chart.overhead.empty
    speed = compared and is_speed(chart)
    several = chart.overhead["reference"].nunique() > 1
    kinds = sorted({str(kind) for kind in chart.values["kind"]})
    names = [look.label for look, _ in rows]
    longest = max(map(len, names))
    wide = (8.0 if compared else 6.3) + _LETTER_INCHES * max(0, longest - _NAME_LETTERS)
    wide += _SMALL_LETTER_INCHES * (5 + max(map(len, chart.overhead["reference"]))) if several else 0.0
    figure = Drawing(figsize=(wide, _FRAME_INCHES + _ROW_INCHES * len(rows)), layout="constrained")
    panels = figure.subplots(1, 2 if compared else 1, sharey=True, squeeze=False, width_ratios=[1.5, 1][: 1 + compared])
    left = panels[0][0]
    for place, (look, row) in enumerate(rows):
        _dot(left, place, look, row, 0.0)
        if compared:
            same = (chart.overhead["run_id"] == row["run_id"]) & (chart.overhead["group"] == row["group"])
            overheads = chart.overhead[same]
            for _, overhead in overheads.iterrows():
                _dot(panels[0][1], place, look, overhead, 1.0 if speed else 0.0)
                if several:
                    _say(panels[0][1], place, str(overhead["reference"]))
    left.set_yticks(range(len(rows)), names)
    left.set_ylim(len(rows) - 0.5, -0.5)
    values = chart.values["value"].to_numpy(float)
    if values.min() > 0 and values.max() / values.min() > _FEW:
        left.set_xscale("log")
    else:
        left.set_xlim(left=0)
    quantity_axis(left.xaxis, quantity, str(chart.values["unit"].iloc[0]))
    if left.get_xscale() == "log":
        left.xaxis.set_major_locator(FixedLocator(log_marks(*left.get_xlim())))
        left.xaxis.set_minor_locator(NullLocator())
    label = ", ".join([left.get_xlabel(), *(kinds if len(kinds) == 1 else [])])
    left.set_xlabel(textwrap.fill(label, _LABEL_LETTERS[0]))
    if compared:
        right = panels[0][1]
        scale_comparison(right, right.xaxis, speed=speed)
        right.set_xlabel(comparison_label(chart, _LABEL_LETTERS[1]))
    head_and_foot(figure, chart)
    return figure


def _look(looks: Looks, part: pd.DataFrame) -> Look:
    """Return a look in the conduit's own colour: rows have names, so that tones would add nothing."""
    look = looks.look({name: part[name].iloc[0] for name in (*KEYS, "kind")})
    conduit = str(part["conduit"].iloc[0])
    return replace(look, colour=of_conduit(conduit), marker=marker_of(conduit))


def _say(axes: Axes, place: int, reference: str) -> None:
    """Write the reference behind a row."""
    axes.annotate(
        f"over {reference}", (1.0, place), xycoords=("axes fraction", "data"), xytext=(4, 0),
        textcoords="offset points", fontsize=6.5, color="0.3", va="center", annotation_clip=False,
    )  # fmt: skip


def _dot(axes: Axes, place: int, look: Look, row: pd.Series, shift: float) -> None:
    low, high = float(row["ci_low"]) + shift, float(row["ci_high"]) + shift
    if np.isfinite(low) and np.isfinite(high):
        axes.hlines(place, low, high, color=look.colour, lw=4.0, alpha=0.3)
    inside = "white" if row["oversubscribed"] else look.colour
    axes.plot(
        [float(row["value"]) + shift], [place], linestyle="none", color=look.colour, marker=look.marker,
        markersize=4.0 if look.thin else 5.5, markerfacecolor=inside, zorder=4,
    )  # fmt: skip
    cross_out(axes, [float(row["value"]) + shift], [place], [row["state"]])
