"""The panels of a reproduced figure: which lines stand in which, and how one of them is drawn."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, LogLocator, NullLocator, StrMethodFormatter

from gasmeter.catalogue import KnownMetric, declared
from gasmeter.reproduction.bands import Band, bands, derived_bands, derived_values
from gasmeter.reproduction.figure import RANKS, SIZE, Derived, Figure, Line
from gasmeter.reproduction.looks import Look
from gasmeter.reproduction.marks import Mark, marks, unit_text
from gasmeter.verdicts.series import COUNTER, Curve, X

if TYPE_CHECKING:
    from gasmeter.reproduction.running import Reproduction

__all__ = ["BEHIND", "Across", "Drawn", "Panel", "draw_panel", "panels_of", "quantity_of", "said", "scale_panel"]

MOST_LINES = 3
"""In a panel whose curves coincide."""

_LIKENESS = 0.1
_LOG_FROM = 40.0
_MOST_TICKS = 13
_KIB, _MIB = 1 << 10, 1 << 20
_JUDGED = "judged"
_T = TypeVar("_T")

BEHIND = "0.72"
"""Colour of curves that another panel shows."""


def quantity_of(line: Line) -> KnownMetric:
    """Return how the metric of a line is shown.

    Parameters
    ----------
    line : Line
        Which.

    Returns
    -------
    KnownMetric
        With its label, units, scale; of a counter per operation.
    """
    if not line.metric.startswith(COUNTER):
        return declared().metrics[line.metric]
    name = line.metric.removeprefix(COUNTER)
    counter = declared().counters.get(name)
    unit = counter.unit if counter else "1"
    label = f"{name.replace('_', ' ').capitalize()} per operation"
    return KnownMetric(line.metric, unit, "smaller", label, unit, 1.0)


def said(line: Line, among: Iterable[Line] = ()) -> str:
    """Return a line's name in a legend.

    Parameters
    ----------
    line : Line
        Which.
    among : iterable of Line
        What it is told apart from: topologies and kinds are named where they differ, and what is measured always is.

    Returns
    -------
    str
        For instance ``VELO, mesh3d:4x4x4``, ``sockets (measured here)``.
    """
    others = list(among)
    several = len({other.topology for other in others if other.topology}) > 1
    mixed = len({bool(other.machine) for other in others}) > 1
    name = f"{line.label}, {line.topology}" if several and line.topology else line.label
    return name if line.machine and not mixed else f"{name} ({'modelled' if line.machine else 'measured here'})"


@dataclass(frozen=True)
class Drawn:
    """A curve in a panel.

    Attributes
    ----------
    label : str
        In the legend.
    look : Look
        Of its line.
    values : dict of str to dict of X to float
        By placement.
    bands : dict of str to dict of X to tuple of float
        Likewise: median, low and high.
    measured, dashed : bool
        Whether it is measured here; modelled in a figure where not all lines are.
    """

    label: str
    look: Look
    values: Mapping[str, Curve]
    bands: Mapping[str, Mapping[X, Band]]
    measured: bool = False
    dashed: bool = False


@dataclass(frozen=True)
class Panel:
    """Curves over one y axis.

    Attributes
    ----------
    title : str
        What is in it, where a figure has several.
    label : str
        Of the y axis, with the unit.
    curves : tuple of Drawn
        Those that it shows.
    marks : tuple of Mark
        Published numbers.
    behind : tuple of Drawn
        Curves of another panel, thin and grey.
    logarithmic, derived : bool
        The scale; whether its curves are made of others.
    """

    title: str
    label: str
    curves: tuple[Drawn, ...]
    marks: tuple[Mark, ...] = ()
    behind: tuple[Drawn, ...] = ()
    logarithmic: bool = False
    derived: bool = False


class Across:
    """The x axis of a figure.

    Parameters
    ----------
    figure : Figure
        Ranks and sizes are spaced by their logarithms, what an option is set to evenly.
    xs : sequence of X
        Every x that is shown, ascending.
    text : callable
        Returns how an x is written.
    """

    def __init__(self, figure: Figure, xs: Sequence[X], text: Mapping[X, str]) -> None:
        self.figure, self.xs, self._text = figure, tuple(xs), text
        self._even = figure.axis not in {RANKS, SIZE}

    def place(self, x: float) -> float:
        """Return where an x stands; NaN where it has no place."""
        if not self._even:
            return math.log2(x) if x > 0 else -1.0
        return float(self.xs.index(x)) if x in self.xs else math.nan

    @property
    def label(self) -> str:
        """Under the axis."""
        if self.figure.axis == RANKS:
            return "Ranks"
        if self.figure.axis == SIZE:
            return "Payload (bytes; K = 1024)" if self.xs and self.xs[-1] >= _KIB else "Payload (bytes)"
        return self.figure.axis.replace("_", " ").capitalize()

    def tick(self, x: X) -> str:
        """Return what stands at an x."""
        if self.figure.axis == RANKS:
            return f"{x:g}"
        if self.figure.axis == SIZE:
            whole = int(x)
            if whole >= _MIB and whole % _MIB == 0:
                return f"{whole // _MIB}M"
            return f"{whole // _KIB}K" if whole >= _KIB and whole % _KIB == 0 else str(whole)
        return self._text[x].partition("=")[2] or self._text[x]

    def dress(self, axes: Axes) -> None:
        """Give axes their ticks."""
        shown = self.xs[:: 1 + (len(self.xs) - 1) // _MOST_TICKS]
        axes.xaxis.set_major_locator(FixedLocator([self.place(x) for x in shown]))
        axes.set_xticks([self.place(x) for x in shown], [self.tick(x) for x in shown])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.margins(x=0.06)


def panels_of(reproduction: Reproduction, figure: Figure, look: Mapping[Line, Look]) -> list[Panel]:
    """Return the panels of a figure: judged lines, lines beside them, what is made of lines.

    Parameters
    ----------
    reproduction : Reproduction
        What was run.
    figure : Figure
        Which.
    look : mapping of Line to Look
        As `gasmeter.reproduction.looks.looks` returns them.

    Returns
    -------
    list of Panel
        None without values; at most `MOST_LINES` curves where they coincide.
    """
    every = [line for line in (*figure.lines, *figure.beside)
             if any(_values(reproduction, figure, line, place) for place in figure.placements)]  # fmt: skip
    mixed = len({bool(line.machine) for line in every}) > 1
    top: list[Panel] = []
    for lines, title in ((figure.lines, _JUDGED), (figure.beside, "beside, not judged")):
        own = [line for line in lines if line in every]
        for metric in dict.fromkeys(line.metric for line in own):
            alike = {line: _curve(reproduction, figure, line, look[line], every) for line in own if line.metric == metric}
            top += [
                _panel(reproduction, figure, quantity_of(next(iter(alike))), (title, name), part, top)
                for name, part in _split(alike, figure)
            ]
    if len(top) == 1:
        top = [replace(top[0], title="")]
    made = _derived_panels(reproduction, figure, look)
    return [_dashed(panel) if mixed else panel for panel in (*top, *made)]


def _values(reproduction: Reproduction, figure: Figure, line: Line, placement: str) -> dict[X, float]:
    """Return what a line came to at the x of a figure: another one may show more of it."""
    return _of_figure(reproduction, figure, reproduction.values(line, placement))


def _of_figure(reproduction: Reproduction, figure: Figure, own: Mapping[X, _T]) -> dict[X, _T]:
    effort = reproduction.plan.effort(figure)
    xs = {figure.x_of(x, effort) for x in effort.xs}
    return {x: value for x, value in own.items() if x in xs}


def _curve(reproduction: Reproduction, figure: Figure, line: Line, look: Look, every: Sequence[Line]) -> Drawn:
    scale = quantity_of(line).scale
    values = {
        place: {x: scale * y for x, y in _values(reproduction, figure, line, place).items()}
        for place in figure.placements
    }
    own = {
        place: {
            x: (scale * middle, scale * low, scale * high)
            for x, (middle, low, high) in _of_figure(reproduction, figure, bands(reproduction, line, place)).items()
        }
        for place in figure.placements
    }
    return Drawn(said(line, every), look, values, own, measured=not line.machine)


def _panel(
    reproduction: Reproduction, figure: Figure, quantity: KnownMetric, title: tuple[str, str], curves: Sequence[Drawn],
    before: Sequence[Panel],
) -> Panel:  # fmt: skip
    unit = unit_text(quantity.shown)
    label = f"{quantity.label} ({unit})" if unit else quantity.label
    judged = title[0] == _JUDGED
    own = tuple(marks(reproduction.judged, figure, quantity.shown)) if judged else ()
    # The judged curves show where those beside them stand, but not where one scale would hold both kinds.
    kinds = {curve.measured for curve in curves}
    behind = tuple(
        curve for panel in before[:1] if not judged and panel.label == label for curve in panel.curves
        if curve.measured in kinds
    )  # fmt: skip
    return Panel(": ".join(filter(None, title)), label, tuple(curves), own, behind, logarithmic=figure.axis == SIZE)


def _dashed(panel: Panel) -> Panel:
    """Return a panel of a figure that shows both kinds: what is modelled is dashed."""
    return replace(panel, curves=tuple(replace(curve, dashed=not curve.measured) for curve in panel.curves))


def _split(curves: Mapping[Line, Drawn], figure: Figure) -> list[tuple[str, list[Drawn]]]:
    """Return curves in panels of few, with their names: by what was run on, where that makes several; else in order."""
    every = list(curves.values())
    if len(every) <= MOST_LINES or (len(every) == MOST_LINES + 1 and not _coincide(every, figure)):
        return [("", every)]
    for key in (_overridden, lambda line: f"machine {line.machine}", lambda line: line.topology):
        groups: dict[str, list[Drawn]] = {}
        for line, curve in curves.items():
            groups.setdefault(key(line), []).append(curve)
        if len(groups) > 1 and all(len(own) <= MOST_LINES for own in groups.values()):
            return list(groups.items())
    size = math.ceil(len(every) / math.ceil(len(every) / MOST_LINES))
    return [("", every[first : first + size]) for first in range(0, len(every), size)]


def _overridden(line: Line) -> str:
    return ", ".join(f"{key}={value}" for key, value in line.overrides) or "machines as given"


def _coincide(curves: Sequence[Drawn], figure: Figure) -> bool:
    """Return whether more curves than a panel may have lie within a tenth of its height somewhere."""
    for place in figure.placements:
        scaled = [
            {x: math.log(y) if figure.axis == SIZE else y for x, y in curve.values.get(place, {}).items() if y > 0}
            for curve in curves
        ]
        every = [y for own in scaled for y in own.values()]
        if not every:
            continue
        least = min(every) if figure.axis == SIZE else 0.0
        near = _LIKENESS * (max(every) - least)
        for x in {x for own in scaled for x in own}:
            ys = sorted(own[x] for own in scaled if x in own)
            if any(ys[at + MOST_LINES] - ys[at] <= near for at in range(len(ys) - MOST_LINES)):
                return True
    return False


def _derived_panels(reproduction: Reproduction, figure: Figure, look: Mapping[Line, Look]) -> list[Panel]:
    found: list[Panel] = []
    for (name, unit), group in itertools.groupby(figure.derived, key=lambda derived: (derived.label_y, derived.unit)):
        curves = [drawn for derived in group if (drawn := _derived_curve(reproduction, figure, derived, look))]
        if not curves:
            continue
        own = tuple(marks(reproduction.judged, figure, unit))
        label = f"{name} ({unit_text(unit)})" if unit_text(unit) else name
        parts = [curves[first : first + MOST_LINES] for first in range(0, len(curves), MOST_LINES)]
        found += [
            Panel("", label, tuple(_told_apart(part)), own, logarithmic=_decades(part, own), derived=True)
            for part in parts
        ]
    return found


def _derived_curve(
    reproduction: Reproduction, figure: Figure, derived: Derived, look: Mapping[Line, Look]
) -> Drawn | None:
    values = {
        place: _of_figure(reproduction, figure, derived_values(reproduction, derived, place))
        for place in figure.placements
    }
    if not any(values.values()):
        return None
    own = {
        place: _of_figure(reproduction, figure, derived_bands(reproduction, derived, place))
        for place in figure.placements
    }
    measured = not any(line.machine for _, line in derived.lines)
    return Drawn(derived.label, look[derived.lines[0][1]], values, own, measured)


def _told_apart(curves: Sequence[Drawn]) -> Iterator[Drawn]:
    """Give curves that are made of the same first line markers and fills of their own."""
    seen: list[Look] = []
    for curve in curves:
        look = curve.look
        while look in seen:
            look = Look(look.colour, {"o": "s", "s": "^", "^": "D"}.get(look.marker, "o"), not look.filled)
        seen.append(look)
        yield replace(curve, look=look)


def _decades(curves: Sequence[Drawn], own: Sequence[Mark]) -> bool:
    every = [y for curve in curves for values in curve.values.values() for y in values.values()]
    every += [end for mark in own for end in (mark.low, mark.high)]
    return min(every) > 0 and max(every) > _LOG_FROM * min(every)


def draw_panel(axes: Axes, panel: Panel, across: Across, placement: str) -> None:
    """Draw one panel for one placement.

    Parameters
    ----------
    axes : Axes
        Where.
    panel : Panel
        What.
    across : Across
        The x axis.
    placement : str
        Whose values.
    """
    for mark in panel.marks:
        if mark.low == mark.high:
            axes.axhline(mark.low, color="0.25", linewidth=1.1, linestyle=(0, (6, 2, 1, 2)), zorder=2, label=mark.label)
        else:
            axes.axhspan(mark.low, mark.high, color="0.45", alpha=0.16, lw=0, zorder=1, label=mark.label)
    for curve in panel.behind:
        xs = sorted(curve.values.get(placement, {}))
        ys = [curve.values[placement][x] for x in xs]
        axes.plot([across.place(x) for x in xs], ys, color=BEHIND, linewidth=1.0, marker="", zorder=2)
    for curve in panel.curves:
        _draw_curve(axes, curve, across, placement)
    if not panel.logarithmic and _least(panel) < 0:
        axes.axhline(0, color="0.4", linewidth=0.8)
    across.dress(axes)


def scale_panel(axes: Axes, panel: Panel) -> None:
    """Give a panel its y scale, once the curves of all placements are in it.

    Parameters
    ----------
    axes : Axes
        One of those that share it.
    panel : Panel
        What was drawn.
    """
    if panel.logarithmic:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.yaxis.set_minor_locator(NullLocator())
    elif _least(panel) >= 0:
        axes.set_ylim(bottom=0)


def _least(panel: Panel) -> float:
    """Return the lowest value or end of a band."""
    values = [y for curve in panel.curves for own in curve.values.values() for y in own.values()]
    lows = [low for curve in panel.curves for own in curve.bands.values() for _, low, _ in own.values()]
    return min((*values, *lows), default=0.0)


def _draw_curve(axes: Axes, curve: Drawn, across: Across, placement: str) -> None:
    values = curve.values.get(placement, {})
    xs = sorted(values)
    dashes = (0, (5, 2)) if curve.dashed else "-"
    places = [across.place(x) for x in xs]
    axes.plot(places, [values[x] for x in xs], linestyle=dashes, linewidth=1.6, label=curve.label, zorder=4,
              **curve.look.arguments)  # fmt: skip
    own = curve.bands.get(placement, {})
    there = [x for x in xs if x in own]
    low, high = [own[x][1] for x in there], [own[x][2] for x in there]
    if len(there) > 1:
        at = [across.place(x) for x in there]
        axes.fill_between(at, low, high, color=curve.look.colour, alpha=0.1, lw=0, zorder=2)
        for end in (low, high):  # fills of several curves hide each other's ends
            axes.plot(at, end, color=curve.look.colour, alpha=0.75, linewidth=0.7, marker="", zorder=3)
    elif there:
        axes.vlines([across.place(x) for x in there], low, high, color=curve.look.colour, lw=3, alpha=0.35, zorder=3)
