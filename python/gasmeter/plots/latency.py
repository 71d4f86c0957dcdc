"""Latency against size, with the overhead against the reference underneath."""

from __future__ import annotations

import textwrap

from gasmeter.catalogue import declared
from gasmeter.plots.comparisons import draw_compared
from gasmeter.plots.dots import draw_dots, has_one_size
from gasmeter.plots.looks import KEYS, Looks
from gasmeter.plots.style import Chart, Drawing, finish, plot_lines, quantity_axis, size_axis

__all__ = ["draw_latency"]

_SIDE_LETTERS = 32  # letters of a line beside a vertical axis


def draw_latency(chart: Chart) -> Drawing:
    """Draw latency or round trip in ns against size on logarithmic axes, with overheads below.

    Measured and modelled lines differ, intervals are bands, points on shared cores are hollow. Rows of one size are
    dots.
    """
    if has_one_size(chart):
        return draw_dots(chart, _quantity(chart))
    compared = not chart.overhead.empty
    figure = Drawing(figsize=(6.3, 5.4 if compared else 4.0), layout="constrained")
    looks = Looks(chart.values, set(chart.overhead["reference"]))
    if compared:
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[1.65, 1])
    else:
        upper = lower = figure.subplots()
    drawn = plot_lines(upper, size_axis(upper, chart.values), looks, "x", keys=KEYS)
    upper.set_yscale("log")
    quantity_axis(upper.yaxis, _quantity(chart), "ns")
    if compared:
        draw_compared(lower, chart, looks)
    lower.set_xlabel("Message size")
    finish(figure, chart, drawn)
    return figure


def _quantity(chart: Chart) -> str:
    """Name the quantity; if both stand in one figure, name the operations of each."""
    metrics = declared().metrics
    ops: dict[str, list[str]] = {}
    for metric, op in sorted({*zip(chart.values["metric"], chart.values["op"], strict=True)}, reverse=True):
        ops.setdefault(metric, []).insert(0, op)
    parts = [
        metrics[metric].label + (f" of {', '.join(names)}" if len(ops) > 1 else "") for metric, names in ops.items()
    ]
    return ";\n".join(textwrap.fill(part, _SIDE_LETTERS, break_on_hyphens=False) for part in parts)
