"""Bandwidth against size."""

from __future__ import annotations

from gasmeter.plots.dots import draw_dots, has_one_size
from gasmeter.plots.looks import KEYS, Looks
from gasmeter.plots.style import Chart, Drawing, finish, plain_log_labels, plot_lines, size_axis

__all__ = ["draw_bandwidth"]


def draw_bandwidth(chart: Chart) -> Drawing:
    """Draw bandwidth against size on logarithmic axes.

    Parameters
    ----------
    chart : Chart
        Rows with metric ``bandwidth`` in B/s.

    Returns
    -------
    Drawing
        In GB/s (10^9 B/s); measured lines solid, modelled ones dashed, intervals as bands, shared cores hollow. Of one
        size, dots in rows.
    """
    if has_one_size(chart):
        return draw_dots(chart, "Bandwidth (GB/s)", 1e-9)
    figure = Drawing(figsize=(6.3, 4.0), layout="constrained")
    axes = figure.subplots()
    looks = Looks(chart.values, set(chart.overhead["reference"]))
    drawn = plot_lines(axes, size_axis(axes, chart.values), looks, "x", 1e-9, keys=KEYS)
    axes.set_yscale("log")
    plain_log_labels(axes, 1.0)
    axes.set_xlabel("Message size")
    axes.set_ylabel("Bandwidth (GB/s)")
    finish(figure, chart, drawn)
    return figure
