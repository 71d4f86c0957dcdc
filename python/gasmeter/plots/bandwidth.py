"""Bandwidth against size, with the ratio to the reference underneath."""

from __future__ import annotations

from gasmeter.plots.comparisons import draw_compared
from gasmeter.plots.dots import draw_dots, has_one_size
from gasmeter.plots.looks import KEYS, Looks
from gasmeter.plots.style import Chart, Drawing, finish, plot_lines, quantity_axis, size_axis

__all__ = ["draw_bandwidth"]


def draw_bandwidth(chart: Chart) -> Drawing:
    """Draw bandwidth in B/s against size on logarithmic axes, with ratios to the reference below.

    Measured and modelled lines differ, intervals are bands, points on shared cores are hollow. Rows of one size are
    dots.
    """
    if has_one_size(chart):
        return draw_dots(chart, "Bandwidth")
    compared = not chart.overhead.empty
    figure = Drawing(figsize=(6.3, 5.4 if compared else 4.0), layout="constrained")
    looks = Looks(chart.values, set(chart.overhead["reference"]))
    if compared:
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[1.65, 1])
    else:
        upper = lower = figure.subplots()
    drawn = plot_lines(upper, size_axis(upper, chart.values), looks, "x", keys=KEYS)
    upper.set_yscale("log")
    quantity_axis(upper.yaxis, "Bandwidth", "B/s")
    if compared:
        draw_compared(lower, chart, looks)
    lower.set_xlabel("Message size")
    finish(figure, chart, drawn)
    return figure
