"""Latency against size, with the overhead against the reference underneath."""

from __future__ import annotations

import textwrap

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from gasmeter.catalogue import declared
from gasmeter.plots.dots import draw_dots, has_one_size
from gasmeter.plots.looks import KEYS, Looks
from gasmeter.plots.style import Chart, Drawing, finish, plot_lines, size_axis, time_axis, time_unit

__all__ = ["draw_latency"]

_LARGE = 3.0
_SIDE_LETTERS = 32  # of a line beside a vertical axis


def draw_latency(chart: Chart) -> Drawing:
    """Draw latency against size on logarithmic axes; below it the overhead, if anything was compared.

    Parameters
    ----------
    chart : Chart
        Rows with metric ``latency`` or ``round_trip`` in ns.

    Returns
    -------
    Drawing
        Measured lines solid, modelled ones dashed, intervals as bands, shared cores hollow. Of one size, dots in rows.
    """
    if has_one_size(chart):
        factor, unit = time_unit(float(chart.values["value"].max()))
        return draw_dots(chart, f"{_quantity(chart)} ({unit})", 1.0 / factor)
    compared = not chart.overhead.empty
    figure = Drawing(figsize=(6.3, 5.4 if compared else 4.0), layout="constrained")
    looks = Looks(chart.values, set(chart.overhead["reference"]))
    if compared:
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[1.65, 1])
    else:
        upper = lower = figure.subplots()
    drawn = plot_lines(upper, size_axis(upper, chart.values), looks, "x", 1.0, keys=KEYS)
    time_axis(upper, _quantity(chart))
    if compared:
        plot_lines(lower, size_axis(lower, chart.overhead), looks, "x", 1.0, keys=KEYS)
        size_axis(lower, chart.values)
        _overhead_axis(lower, ", ".join(sorted(set(chart.overhead["reference"]))))
    lower.set_xlabel("Message size")
    finish(figure, chart, drawn)
    return figure


def _quantity(chart: Chart) -> str:
    """Name the quantity; where both stand in one figure, which operations have which."""
    known = declared().metrics
    ops: dict[str, list[str]] = {}
    for metric, op in sorted({*zip(chart.values["metric"], chart.values["op"], strict=True)}, reverse=True):
        ops.setdefault(metric, []).insert(0, op)
    parts = [known[metric].label + (f" of {', '.join(names)}" if len(ops) > 1 else "") for metric, names in ops.items()]
    return ";\n".join(textwrap.fill(part, _SIDE_LETTERS) for part in parts)


def _overhead_axis(axes: Axes, reference: str) -> None:
    low, high = axes.get_ylim()
    if high > _LARGE:
        axes.set_yscale("symlog", linthresh=1.0)
    axes.axhline(0, color="0.3", linewidth=0.8, zorder=2)
    axes.set_ylim(min(low, -0.02), max(high, 0.02))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value * 100:.0f}"))
    axes.set_ylabel(f"Overhead over\n{textwrap.fill(f'{reference} (%)', _SIDE_LETTERS * 2 // 3)}")
