"""Bandwidth against size."""

from __future__ import annotations

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
        In GB/s (10^9 B/s); measured lines solid, modelled ones dashed, intervals as bands, shared cores hollow.
    """
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
