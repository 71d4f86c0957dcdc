"""A LogGP fit over the points it was made of, and what it leaves."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from gasmeter.loggp.fitting import LogGP
from gasmeter.plots.style import Drawing, quantity_axis
from gasmeter.units import format_bytes

__all__ = ["draw_loggp"]

_CURVES = (
    ("half_trip", 0, 0.5, "half a round trip", "C0", "o"),
    ("gap", 1, 1.0, "gap", "C1", "s"),
    ("send_overhead", 2, 1.0, "sender's overhead", "C2", "^"),
    ("receive_overhead", 3, 1.0, "receiver's overhead", "C3", "v"),
)


def draw_loggp(model: LogGP) -> Drawing:
    """Draw points with their lines, and below by how much each point is off its line.

    Parameters
    ----------
    model : LogGP
        A fit.

    Returns
    -------
    Drawing
        Both axes of the upper part logarithmic; ends of protocol segments as dotted lines.
    """
    figure = Drawing(figsize=(6.3, 6.0), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[1.9, 1])
    curves = model.curves
    medians = curves.medians()
    for name, row, scale, label, colour, marker in _CURVES:
        times = medians[row] * scale
        upper.plot(curves.sizes, times, marker, color=colour, markersize=4.5, label=label, zorder=4)
        for segment in model.segments:
            if name not in segment.curves:
                continue
            offset, slope = segment.curves[name]
            inside = (curves.sizes >= segment.first) & (curves.sizes <= segment.last)
            sizes = np.geomspace(max(segment.first, 1), max(segment.last, 1), 100)
            upper.plot(sizes, offset + slope * sizes, color=colour, linewidth=1.1, zorder=3)
            expected = offset + slope * curves.sizes[inside]
            off = times[inside] / expected - 1
            lower.plot(curves.sizes[inside], off, marker, color=colour, markersize=4, zorder=4)
    for segment in model.segments[1:]:
        for axes in (upper, lower):
            axes.axvline(segment.first * 0.72, color="0.45", linestyle=":", linewidth=1.0, zorder=2)
    _axes(upper, lower, model)
    figure.facts = curves.facts
    return figure


def _axes(upper: Axes, lower: Axes, model: LogGP) -> None:
    sizes = model.curves.sizes
    upper.set_xscale("log", base=2)
    upper.set_yscale("log")
    step = max(1, -(-sizes.size // 8))
    lower.set_xticks(sizes[::step], [format_bytes(int(size)) for size in sizes[::step]])
    lower.minorticks_off()
    quantity_axis(upper.yaxis, "Time", "ns")
    upper.legend(loc="upper left", frameon=False)
    numbers = []
    for name, one in model.parameters.items():
        numbers.append(f"{name} {one.value:.4g}" if one.identified else f"{name} -")
    upper.set_title(f"LogGP of {model.curves.title} ({model.curves.kind})\n{', '.join(numbers)} ns, ns/B", fontsize=9)
    lower.axhline(0, color="0.3", linewidth=0.8, zorder=2)
    lower.set_ylabel("Off the line (%)")
    lower.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value * 100:.3g}"))
    lower.set_xlabel("Payload of a message")
