"""Panels of a reproduced figure, with their curves and published numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from gasmeter.catalogue import KnownMetric, declared
from gasmeter.plots.palette import MARKERS
from gasmeter.reproduction.plan.figure import SIZE, Derived, Figure, Line
from gasmeter.reproduction.report.bands import Band, bands, derived_bands, derived_values
from gasmeter.reproduction.report.looks import Look
from gasmeter.reproduction.report.marks import Mark, marks, unit_text
from gasmeter.reproduction.report.scales import Wanted
from gasmeter.verdicts.series import COUNTER, Curve, X

if TYPE_CHECKING:
    from gasmeter.reproduction.run.running import Reproduction

__all__ = ["MOST_LINES", "Drawn", "Panel", "panels_of", "quantity_of", "said"]

MOST_LINES = 3
"""Most curves in a panel whose curves coincide."""

_LIKENESS = 0.1
_T = TypeVar("_T")


def quantity_of(line: Line) -> KnownMetric:
    """Return the label, units and scale of a line's metric; a counter counts per operation."""
    if not line.metric.startswith(COUNTER):
        return declared().metrics[line.metric]
    name = line.metric.removeprefix(COUNTER)
    counter = declared().counters.get(name)
    unit = counter.unit if counter else "1"
    label = f"{name.replace('_', ' ').capitalize()} per operation, all ranks"
    shown, scale = ("ms", 1e-6) if unit == "ns" else (unit, 1.0)
    return KnownMetric(line.metric, unit, "smaller", label, shown, scale)


def said(line: Line, among: Iterable[Line] = ()) -> str:
    """Return a line's name in a legend: ``VELO, mesh3d:4x4x4``, ``sockets (measured here)``.

    Topology and kind are named where lines in `among` differ; a measured line always says so.
    """
    others = list(among)
    several = len({other.topology for other in others if other.topology}) > 1
    mixed = len({bool(other.machine) for other in others}) > 1
    name = f"{line.label}, {line.topology}" if several and line.topology else line.label
    return name if line.machine and not mixed else f"{name} ({'modelled' if line.machine else 'measured here'})"


@dataclass(frozen=True)
class Drawn:
    """A curve in a panel."""

    label: str  # in the legend
    look: Look  # look of its line
    values: Mapping[str, Curve]  # by placement
    bands: Mapping[str, Mapping[X, Band]]  # median, low and high by placement
    measured: bool = False  # whether it is measured here
    dashed: bool = False  # whether it is modelled, in a figure that has measured lines, too


@dataclass(frozen=True)
class Panel:
    """Curves over one y axis."""

    title: str  # title of the panel, in a figure with several
    label: str  # label of the y axis, with the unit
    curves: tuple[Drawn, ...]
    marks: tuple[Mark, ...] = ()  # published numbers
    behind: tuple[Drawn, ...] = ()  # curves behind them, thin and grey: another panel's, or the yardstick of its own
    behind_label: str = "lines as above"  # legend of those
    scale: Wanted = "linear"  # kind of the y axis; see `gasmeter.reproduction.report.scales.scale_for`
    derived: bool = False  # whether its curves are derived lines

    @property
    def lines(self) -> list[float]:
        """Values of its curves and the published numbers, in the unit of its axis."""
        ys = [y for curve in self.curves for values in curve.values.values() for y in values.values()]
        return ys + [end for mark in self.marks for end in (mark.low, mark.high)]

    @property
    def around(self) -> list[float]:
        """Ends of its bands, and the curves behind."""
        ends = [
            end for curve in self.curves for bands in curve.bands.values() for band in bands.values() for end in band
        ]
        return ends + [y for curve in self.behind for values in curve.values.values() for y in values.values()]


def panels_of(reproduction: Reproduction, figure: Figure, look: Mapping[Line, Look]) -> list[Panel]:
    """Return the panels of a figure: its own lines, lines beside them, derived lines; none without values.

    A panel has at most `MOST_LINES` curves where they coincide.
    """
    every = [line for line in (*figure.lines, *figure.beside)
             if any(_values(reproduction, figure, line, place) for place in figure.placements)]  # fmt: skip
    mixed = len({bool(line.machine) for line in every}) > 1
    top: list[Panel] = []
    titles = ("judged", "beside, not judged") if figure.claims else ("", "beside")
    own_lines = () if figure.only_derived else figure.lines
    for lines, title, before in ((own_lines, titles[0], None), (figure.beside, titles[1], top)):
        judged_lines = [line for line in lines if line in every]
        for metric in dict.fromkeys(line.metric for line in judged_lines):
            alike = {
                line: _curve(reproduction, figure, line, look[line], every)
                for line in judged_lines
                if line.metric == metric
            }
            top += [
                _panel(reproduction, figure, (title, name), (next(iter(alike)), part), before)
                for name, part in _split(alike, figure)
            ]
    if len(top) == 1:
        top = [replace(top[0], title="")]
    top[:1] = [_held_against(reproduction, figure, panel, look) for panel in top[:1]]
    derived_panels = _derived_panels(reproduction, figure, look)
    return [_dashed(panel) if mixed else panel for panel in (*top, *derived_panels)]


def _values(reproduction: Reproduction, figure: Figure, line: Line, placement: str) -> dict[X, float]:
    """Return the values of a line at the x of a figure, since another figure may show more of it."""
    return _of_figure(reproduction, figure, reproduction.values(line, placement))


def _of_figure(reproduction: Reproduction, figure: Figure, values: Mapping[X, _T]) -> dict[X, _T]:
    effort = reproduction.plan.effort(figure)
    xs = {figure.x_of(x, effort) for x in effort.xs}
    return {x: value for x, value in values.items() if x in xs}


def _curve(reproduction: Reproduction, figure: Figure, line: Line, look: Look, every: Sequence[Line]) -> Drawn:
    scale = quantity_of(line).scale
    values = {
        place: {x: scale * y for x, y in _values(reproduction, figure, line, place).items()}
        for place in figure.placements
    }
    values_by_place = {
        place: {
            x: (scale * middle, scale * low, scale * high)
            for x, (middle, low, high) in _of_figure(reproduction, figure, bands(reproduction, line, place)).items()
        }
        for place in figure.placements
    }
    return Drawn(said(line, every), look, values, values_by_place, measured=not line.machine)


def _panel(
    reproduction: Reproduction, figure: Figure, title: tuple[str, str], shown: tuple[Line, Sequence[Drawn]],
    before: Sequence[Panel] | None,
) -> Panel:  # fmt: skip
    """Return a panel of the figure's own lines, or of lines beside them behind the panels in `before`."""
    line, curves = shown
    quantity = quantity_of(line)
    unit = unit_text(quantity.shown)
    label = f"{quantity.label} ({unit})" if unit else quantity.label
    published = () if before is not None else _of_lines(reproduction, figure, quantity.shown)
    # A figure's own curves also show in panels of lines beside them, unless one scale would mix both kinds.
    kinds = {curve.measured for curve in curves}
    behind = tuple(
        curve for panel in (before or ())[:1] if panel.label == label for curve in panel.curves
        if curve.measured in kinds
    )  # fmt: skip
    return Panel(": ".join(filter(None, title)), label, tuple(curves), published, behind,
                 scale="log" if figure.axis == SIZE else "linear")  # fmt: skip


def _of_lines(reproduction: Reproduction, figure: Figure, unit: str) -> tuple[Mark, ...]:
    """Return the published numbers of lines, without those that a panel of derived lines can show."""
    derived_labels = {
        mark.label for derived in figure.derived for mark in marks(reproduction.judged, figure, derived.unit)
    }
    return tuple(mark for mark in marks(reproduction.judged, figure, unit) if mark.label not in derived_labels)


def _dashed(panel: Panel) -> Panel:
    """Return a panel of a figure with both kinds, its modelled curves dashed."""
    return replace(panel, curves=tuple(replace(curve, dashed=not curve.measured) for curve in panel.curves))


def _split(curves: Mapping[Line, Drawn], figure: Figure) -> list[tuple[str, list[Drawn]]]:
    """Return curves in small named panels: by what they ran on if that makes several, else in order."""
    every = list(curves.values())
    if len(every) <= MOST_LINES or (len(every) == MOST_LINES + 1 and not _coincide(every, figure)):
        return [("", every)]
    for key in (_overridden, lambda line: f"machine {line.machine}", lambda line: line.topology):
        groups: dict[str, list[Drawn]] = {}
        for line, curve in curves.items():
            groups.setdefault(key(line), []).append(curve)
        if len(groups) > 1 and all(len(part) <= MOST_LINES for part in groups.values()):
            return list(groups.items())
    size = math.ceil(len(every) / math.ceil(len(every) / MOST_LINES))
    return [("", every[first : first + size]) for first in range(0, len(every), size)]


def _overridden(line: Line) -> str:
    return ", ".join(f"{key}={value}" for key, value in line.overrides) or "machines as given"


def _coincide(curves: Sequence[Drawn], figure: Figure) -> bool:
    """Tell whether too many curves for a panel lie within a tenth of its height somewhere."""
    for place in figure.placements:
        scaled = [
            {x: math.log(y) if figure.axis == SIZE else y for x, y in curve.values.get(place, {}).items() if y > 0}
            for curve in curves
        ]
        every = [y for values in scaled for y in values.values()]
        if not every:
            continue
        least = min(every) if figure.axis == SIZE else 0.0
        near = _LIKENESS * (max(every) - least)
        for x in {x for values in scaled for x in values}:
            ys = sorted(values[x] for values in scaled if x in values)
            if any(ys[at + MOST_LINES] - ys[at] <= near for at in range(len(ys) - MOST_LINES)):
                return True
    return False


def _held_against(reproduction: Reproduction, figure: Figure, panel: Panel, look: Mapping[Line, Look]) -> Panel:
    """Return the panel with the line that serves as its yardstick, if the figure has one."""
    for derived in figure.derived:
        if derived.behind and (drawn := _derived_curve(reproduction, figure, derived, look)):
            scale = quantity_of(derived.lines[0][1]).scale
            values = {place: {x: scale * y for x, y in points.items()} for place, points in drawn.values.items()}
            return replace(
                panel, behind=(replace(drawn, values=values, bands={}),), behind_label=derived.label, scale="log",
            )  # fmt: skip
    return panel


def _derived_panels(reproduction: Reproduction, figure: Figure, look: Mapping[Line, Look]) -> list[Panel]:
    result: list[Panel] = []
    shown = [derived for derived in figure.derived if not derived.behind]
    lines = [line.key for other_figure in reproduction.plan.paper.figures for line in other_figure.lines]
    for (name, unit), each in itertools.groupby(shown, key=lambda derived: (derived.label_y, derived.unit)):
        group = list(each)
        curves = [drawn for derived in group if (drawn := _derived_curve(reproduction, figure, derived, look))]
        if not curves:
            continue
        every = [y for curve in curves for values in curve.values.values() for y in values.values()]
        published = marks(reproduction.judged, figure, unit, every, derived_lines=group, lines=lines)
        label = f"{name} ({unit_text(unit)})" if unit_text(unit) else name
        parts = [curves[first : first + MOST_LINES] for first in range(0, len(curves), MOST_LINES)]
        result += [
            Panel("", label, tuple(_with_markers(part)), _of_part(published, part), scale="span", derived=True)
            for part in parts
        ]
    return result


def _of_part(published: Iterable[Mark], part: Iterable[Drawn]) -> tuple[Mark, ...]:
    """Return the published numbers for a part of an axis's curves, without those of curves in other parts."""
    labels = {"", *(curve.label for curve in part)}
    return tuple(mark for mark in published if mark.of in labels)


def _derived_curve(
    reproduction: Reproduction, figure: Figure, derived: Derived, look: Mapping[Line, Look]
) -> Drawn | None:
    values = {
        place: _of_figure(reproduction, figure, derived_values(reproduction, derived, place))
        for place in figure.placements
    }
    if not any(values.values()):
        return None
    values_by_place = {
        place: _of_figure(reproduction, figure, derived_bands(reproduction, derived, place))
        for place in figure.placements
    }
    measured = not any(line.machine for _, line in derived.lines)
    return Drawn(derived.label, look[derived.lines[0][1]], values, values_by_place, measured)


def _with_markers(curves: Sequence[Drawn]) -> Iterator[Drawn]:
    """Give curves derived from the same first line different markers."""
    seen: list[Look] = []
    for curve in curves:
        look = curve.look
        while look in seen:
            look = replace(look, marker=MARKERS[(MARKERS.index(look.marker) + 1) % len(MARKERS)])
        seen.append(look)
        yield replace(curve, look=look)
