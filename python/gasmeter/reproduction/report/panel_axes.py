"""Drawing of a panel of a reproduced figure: x axis, curves with bands, scale."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, FixedLocator, NullLocator, StrMethodFormatter

from gasmeter.plots.palette import MARKERS
from gasmeter.reproduction.plan.figure import RANKS, SIZE, Figure
from gasmeter.reproduction.report.marks import Mark
from gasmeter.reproduction.report.panels import Drawn, Panel
from gasmeter.reproduction.report.scales import log_ticks, scale_for
from gasmeter.verdicts.series import X

__all__ = ["BEHIND", "Across", "draw_panel", "runs_of", "scale_panel"]

BEHIND = "0.72"
"""Colour of curves from another panel."""

_MOST_TICKS = 13
_KIB, _MIB = 1 << 10, 1 << 20
_MARGIN = 0.06
"""Share of the width beside the outermost x."""
_CHARACTER, _GAP = 5.6, 4.0
"""Points of a digit under an axis, and least points between two numbers."""
_EDGES, _PUBLISHED_DASHES = ((0.022, 0.03), (0.978, -0.03)), (0, (6, 2, 1, 2))
"""Shares of the width with the markers of the first published number and steps to the next; dashes of its line."""
_ROOM = 1.05
"""Least height of a linear axis from 0 over its highest point."""
_MANY = 1e5
"""Numbers at an axis from here on have a prefix: 20M."""


class Across:
    """The x axis of a figure: logarithmic for ranks and sizes, even spacing for values of an option."""

    def __init__(self, figure: Figure, xs: Sequence[X], text: Mapping[X, str]) -> None:
        self.figure, self.xs, self._text = figure, tuple(xs), text
        self._even = figure.axis not in {RANKS, SIZE}

    def place(self, x: float) -> float:
        """Return the place of an x: -1 for 0 ranks or bytes; NaN for a value that an option does not have."""
        if not self._even:
            return math.log2(x) if x > 0 else -1.0
        return float(self.xs.index(x)) if x in self.xs else math.nan

    @property
    def label(self) -> str:
        """Text under the axis."""
        if self.figure.axis == RANKS:
            return "Ranks"
        if self.figure.axis == SIZE:
            return "Payload (bytes; K = 1024)" if self.xs and self.xs[-1] >= _KIB else "Payload (bytes)"
        return self.figure.axis.replace("_", " ").capitalize()

    def tick(self, x: X) -> str:
        """Return the text at an x."""
        if self.figure.axis == RANKS:
            return f"{x:g}"
        if self.figure.axis == SIZE:
            whole = int(x)
            if whole >= _MIB and whole % _MIB == 0:
                return f"{whole // _MIB}M"
            return f"{whole // _KIB}K" if whole >= _KIB and whole % _KIB == 0 else str(whole)
        return self._text[x].partition("=")[2] or self._text[x]

    def _apart(self, xs: Sequence[X], axes: Axes) -> Sequence[X]:
        """Return the ascending x whose numbers keep apart; all of them on an even axis."""
        span = self.place(xs[-1]) - self.place(xs[0]) if xs else 0.0
        if self._even or span <= 0:
            return xs
        width = 72 * axes.bbox.width / axes.figure.dpi
        step = width / (span * (1 + 2 * _MARGIN))
        kept = [xs[0]]
        for x in xs[1:]:
            needed = _CHARACTER * (len(self.tick(kept[-1])) + len(self.tick(x))) / 2 + _GAP
            if (self.place(x) - self.place(kept[-1])) * step >= needed:
                kept.append(x)
        return kept

    def dress(self, axes: Axes) -> None:
        """Give the axes their ticks."""
        shown = self._apart(self.xs[:: 1 + (len(self.xs) - 1) // _MOST_TICKS], axes)
        axes.xaxis.set_major_locator(FixedLocator([self.place(x) for x in shown]))
        axes.set_xticks([self.place(x) for x in shown], [self.tick(x) for x in shown])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.margins(x=_MARGIN)


def draw_panel(axes: Axes, panel: Panel, across: Across, placement: str) -> None:
    """Draw one panel for one placement."""
    for number, mark in enumerate(panel.marks):
        _draw_mark(axes, mark, number)
    for curve in panel.behind:
        xs = sorted(curve.values.get(placement, {}))
        ys = [curve.values[placement][x] for x in xs]
        axes.plot([across.place(x) for x in xs], ys, color=BEHIND, linewidth=1.0, marker="", zorder=2)
    for curve in panel.curves:
        _draw_curve(axes, curve, across, placement)
    across.dress(axes)


def scale_panel(
    row: Sequence[Axes], panel: Panel, beyond: Iterable[float] = (), alike: Panel | None = None
) -> None:  # fmt: skip
    """Set and label the y scale of a panel once the curves of all placements are drawn.

    The axes in `row` share it. `beyond` holds other drawn values, such as a reader's points; `alike` is a panel of
    another figure with the same scale.
    """
    lines = [*panel.lines, *(alike.lines if alike else ())]
    others = [*panel.around, *beyond, *(alike.around if alike else ())]
    least = min([*lines, *others], default=0.0)
    scale = scale_for(panel.scale, lines, others)
    axes = row[0]
    if alike:
        axes.update_datalim([(axes.dataLim.x0, y) for y in (*lines, *others)])
        axes.autoscale_view(scalex=False)
    axes.set_ylabel(f"{panel.label}, {scale.says}" if scale.says else panel.label)
    if scale.kind == "log":
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(FixedLocator(log_ticks(*axes.get_ylim())))
    elif scale.kind == "symlog":
        axes.set_yscale("symlog", linthresh=scale.linear_to)
    elif least >= 0:
        # The margin counts from 0: lines close to each other would be cut at the upper edge otherwise.
        axes.set_ylim(0, max(axes.get_ylim()[1], _ROOM * float(axes.dataLim.y1)))
    if max((abs(y) for y in (*lines, *others)), default=0.0) >= _MANY:
        axes.yaxis.set_major_formatter(EngFormatter(sep=""))
    elif scale.kind != "linear":
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    if scale.kind != "linear":
        axes.yaxis.set_minor_locator(NullLocator())
    for axis in row if least < 0 else ():
        axis.axhline(0, color="0.4", linewidth=0.8)


def _draw_mark(axes: Axes, mark: Mark, number: int) -> None:
    """Draw a published number: hollow markers at both edges, between them a line at a value, a stripe over a range.

    Each number has its own marker, further inside than the one before, since ranges may overlap.
    """
    left, right = (edge + number * inwards for edge, inwards in _EDGES)
    looks: dict[str, Any] = {
        "color": "0.25",
        "marker": MARKERS[number % len(MARKERS)],
        "markersize": 5.0,
        "markerfacecolor": "white",
        "zorder": 5,
    }
    across: tuple[list[float], list[float]]
    if mark.low == mark.high:
        across = [0.0, left, right, 1.0], [mark.low] * 4
        looks |= {"linewidth": 1.1, "linestyle": _PUBLISHED_DASHES, "markevery": [1, 2]}
    else:
        axes.axhspan(mark.low, mark.high, color="0.45", alpha=0.16, lw=0, zorder=1)
        across = [left, left, math.nan, right, right], [mark.low, mark.high, math.nan, mark.low, mark.high]
        looks |= {"linewidth": 0.8}
    axes.plot(*across, transform=axes.get_yaxis_transform(), label=mark.label, clip_on=False, **looks)


def _draw_curve(axes: Axes, curve: Drawn, across: Across, placement: str) -> None:
    values = curve.values.get(placement, {})
    xs = sorted(values)
    places = [across.place(x) for x in xs]
    axes.plot(
        places, [values[x] for x in xs], linestyle=curve.look.style(dashed=curve.dashed), linewidth=1.6,
        label=curve.label, zorder=4, **curve.look.arguments,
    )  # fmt: skip
    bands = curve.bands.get(placement, {})
    for run in runs_of(xs, bands):
        at = [across.place(x) for x in run]
        low, high = [bands[x][1] for x in run], [bands[x][2] for x in run]
        if len(run) == 1:
            axes.vlines(at, low, high, color=curve.look.colour, lw=3, alpha=0.35, zorder=3)
            continue
        axes.fill_between(at, low, high, color=curve.look.colour, alpha=0.1, lw=0, zorder=2)
        for end in (low, high):  # fills of several curves hide each other's ends
            axes.plot(at, end, color=curve.look.colour, alpha=0.75, linewidth=0.7, marker="", zorder=3)


def runs_of(xs: Sequence[X], banded: Mapping[X, object]) -> list[list[X]]:
    """Return runs of neighbouring x values that have a band; between other values no band is known."""
    runs: list[list[X]] = [[]]
    for x in xs:
        if x in banded:
            runs[-1].append(x)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]
