"""A LogGP fit over its points, and the residuals."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from gasmeter.loggp.fitting import PARAMETERS, LogGP, Segment
from gasmeter.plots.looks import Look
from gasmeter.plots.style import Chart, Drawing, error_axis, finish, quantity_axis
from gasmeter.units import format_bytes, format_quantity

__all__ = ["draw_loggp"]

_CURVES = (
    ("half_trip", 0, 0.5, "half a round trip", "C0", "o"),
    ("gap", 1, 1.0, "gap", "C1", "s"),
    ("send_overhead", 2, 1.0, "sender's overhead", "C2", "^"),
    ("receive_overhead", 3, 1.0, "receiver's overhead", "C3", "v"),
)


def draw_loggp(model: LogGP) -> Drawing:
    """Draw the points of a fit with their lines, and below each point's deviation from its line.

    Both axes of the upper part are logarithmic. Dotted lines end the protocol segments, whose parameters stand
    underneath.
    """
    figure = Drawing(figsize=(6.3, 6.0), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[1.9, 1])
    curves = model.curves
    medians = curves.medians()
    drawn = []
    for name, row, scale, label, colour, marker in _CURVES:
        times = medians[row] * scale
        (points,) = upper.plot(curves.sizes, times, marker, color=colour, markersize=4.5, zorder=4)
        drawn.append((Look(label, colour, marker, row, False), points))
        for segment in model.segments:
            if name not in segment.curves:
                continue
            offset, slope = segment.curves[name]
            inside = (curves.sizes >= segment.first) & (curves.sizes <= segment.last)
            sizes = np.geomspace(max(segment.first, 1), max(segment.last, 1), 100)
            upper.plot(sizes, offset + slope * sizes, color=colour, linewidth=1.1, zorder=3)
            expected = offset + slope * curves.sizes[inside]
            off = 100 * (times[inside] / expected - 1)
            lower.plot(curves.sizes[inside], off, marker, color=colour, markersize=4, zorder=4)
    for segment in model.segments[1:]:
        for axes in (upper, lower):
            axes.axvline(segment.first * 0.72, color="0.45", linestyle=":", linewidth=1.0, zorder=2)
    _axes(upper, lower, curves.sizes)
    foot = ["lines: the model fitted to the points", *(_segment_text(segment) for segment in model.segments)]
    title = f"LogGP of {curves.title} ({curves.kind})"
    finish(figure, Chart(pd.DataFrame(), pd.DataFrame(), title, " \N{MIDDLE DOT} ".join(foot)), drawn)
    figure.facts = curves.facts
    return figure


def _axes(upper: Axes, lower: Axes, sizes: np.ndarray) -> None:
    upper.set_xscale("log", base=2)
    upper.set_yscale("log")
    step = max(1, -(-sizes.size // 8))
    lower.set_xticks(sizes[::step], [format_bytes(int(size)) for size in sizes[::step]])
    lower.minorticks_off()
    quantity_axis(upper.yaxis, "Time", "ns")
    error_axis(lower, "Point over line (%)")
    lower.set_xlabel("Payload of a message")


def _segment_text(segment: Segment) -> str:
    """Return the sizes and parameters of a segment, each in its own unit."""
    parts = []
    for name, parameter in segment.parameters.items():
        value = parameter.value if parameter.identified else parameter.high
        if not math.isfinite(value):
            parts.append(f"{name} not identified")
            continue
        per_byte = PARAMETERS[name].removeprefix("ns")
        parts.append(f"{name} {'' if parameter.identified else 'at most '}{format_quantity(value, 'ns')}{per_byte}")
    return f"{format_bytes(segment.first)} to {format_bytes(segment.last)}: {', '.join(parts)}"
