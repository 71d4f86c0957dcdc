"""Giga-updates per second against ranks."""

from __future__ import annotations

import math

from matplotlib.ticker import FixedLocator, NullLocator

from gasmeter.plots.looks import BESIDE, Looks
from gasmeter.plots.style import Chart, Drawing, finish, plot_lines, quantity_axis

__all__ = ["draw_gups"]

_KEYS = ("kernel", "op", "variant", "conduit", "machine", "topology", "placement", "size_bytes", "options", BESIDE)


def draw_gups(chart: Chart) -> Drawing:
    """Draw the update rate in GUP/s against ranks: measured solid, modelled dashed, intervals as bands.

    Markers are hollow where ranks share cores.
    """
    figure = Drawing(figsize=(6.3, 4.0), layout="constrained")
    axes = figure.subplots()
    looks = Looks(chart.values, set(chart.overhead["reference"]), ranks=False)
    frame = chart.values.assign(x=[math.log2(ranks) for ranks in chart.values["ranks"]])
    drawn = plot_lines(axes, frame, looks, "x", keys=_KEYS)
    ranks = sorted(set(chart.values["ranks"]))
    axes.xaxis.set_major_locator(FixedLocator([math.log2(count) for count in ranks]))
    axes.set_xticks([math.log2(count) for count in ranks], [str(count) for count in ranks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_ylim(bottom=0)
    axes.margins(x=0.06)
    axes.set_xlabel("Ranks")
    quantity_axis(axes.yaxis, "Update rate", "GUP/s")
    finish(figure, chart, drawn)
    return figure
