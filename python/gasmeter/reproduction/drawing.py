"""Plots of a reproduced figure: its lines with their bands, a reader's own points, links as heat maps."""

from __future__ import annotations

import functools
import io
import math
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, LogLocator, NullLocator, StrMethodFormatter
from PIL import Image

from gasmeter.catalogue import KnownMetric, declared
from gasmeter.plots import draw_point_links
from gasmeter.plots.looks import COLOURS, MARKERS
from gasmeter.plots.style import Drawing, styled
from gasmeter.reproduction.digitised import Points
from gasmeter.reproduction.figure import Figure, Line
from gasmeter.reproduction.planning import GIVEN
from gasmeter.reproduction.running import Reproduction

__all__ = ["Picture", "draw_figure", "draw_heat_maps", "quantity_of", "save"]

_SIDE_IN, _HEIGHT_IN, _OVERHEAD_IN = 4.3, 4.3, 1.9
_OFFSET = 0.035
_DPI = 110


def quantity_of(line: Line) -> KnownMetric:
    """Return how the metric of a line is drawn.

    Parameters
    ----------
    line : Line
        Which.

    Returns
    -------
    KnownMetric
        With its label, units, scale.
    """
    return declared().metrics[line.metric]


class Picture:
    """A drawn picture, rendered once.

    Parameters
    ----------
    name, figure : str
        File name without ending; number of the figure it belongs to.
    title : str
        What it shows, for people who cannot see it.
    drawing : Drawing
        What is rendered.
    ending : {"svg", "png"}
        How the report holds it.
    """

    def __init__(self, name: str, figure: str, title: str, drawing: Drawing, ending: str = "svg") -> None:
        self.name, self.figure, self.title, self.ending = name, figure, title, ending
        self._drawing = drawing

    @functools.cached_property
    def content(self) -> bytes:
        """The file, as the report holds it."""
        return self.rendered(self.ending)

    def rendered(self, ending: str) -> bytes:
        """Return the picture as a file.

        Parameters
        ----------
        ending : {"svg", "png"}
            Which kind.

        Returns
        -------
        bytes
            The same for the same picture.
        """
        buffer = io.BytesIO()
        with styled():
            if ending == "svg":
                self._drawing.savefig(buffer, format="svg", metadata={"Date": None})
            else:
                self._drawing.savefig(buffer, format="png", dpi=_DPI)
                return _few_colours(buffer)
        return buffer.getvalue()


def _few_colours(buffer: io.BytesIO) -> bytes:
    """Return a picture with a palette: no eye sees it, and a report with its heat maps stays under 2 MB."""
    reduced = io.BytesIO()
    Image.open(buffer).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(reduced, "png", optimize=True)
    return reduced.getvalue()


def draw_figure(reproduction: Reproduction, figure: Figure, digitised: Iterable[Points] = ()) -> Picture | None:
    """Draw the lines of a figure, one panel per placement.

    Parameters
    ----------
    reproduction : Reproduction
        What was run.
    figure : Figure
        Which.
    digitised : iterable of Points, optional
        A reader's own points.

    Returns
    -------
    Picture or None
        None if nothing of it was run.
    """
    if not _drawn(reproduction, figure):
        return None
    own = [points for points in digitised if points.figure == figure.number]
    quantity = quantity_of(figure.lines[0])
    columns = len(figure.placements)
    with styled():
        rows = 2 if figure.overheads else 1
        # A single panel is as wide as its legend and footnote need.
        size = (max(_SIDE_IN * columns, 1.45 * _SIDE_IN), _HEIGHT_IN + _OVERHEAD_IN * (rows - 1))
        drawing = Drawing(figsize=size, layout="constrained")
        ratios = [_HEIGHT_IN, _OVERHEAD_IN][:rows]
        panels = drawing.subplots(rows, columns, sharex="col", sharey="row", squeeze=False, height_ratios=ratios)
        for column, placement in enumerate(figure.placements):
            _panel(panels[0][column], reproduction, figure, placement, own)
            if figure.overheads:
                _overheads(panels[1][column], reproduction, figure, placement)
            panels[-1][column].set_xlabel("Ranks" if figure.axis == "ranks" else "Payload (bytes)")
        panels[0][0].set_ylabel(f"{quantity.label} ({quantity.shown})")
        if figure.axis == "ranks":
            panels[0][0].set_ylim(bottom=0)
        else:
            panels[0][0].set_yscale("log")
            panels[0][0].yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            panels[0][0].yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
            panels[0][0].yaxis.set_minor_locator(NullLocator())
        if figure.overheads:
            panels[1][0].set_ylabel("Overhead (%)")
        _finish(drawing, panels[0][0], reproduction, figure)
    against = "ranks" if figure.axis == "ranks" else "payload"
    title = f"{figure.title}: {quantity.label.lower()} against {against}"
    return Picture(f"figure_{figure.number}", figure.number, title, drawing)


def _drawn(reproduction: Reproduction, figure: Figure) -> list[Line]:
    lines = (*figure.lines, *figure.beside)
    return [line for line in lines if any(reproduction.values(line, placement) for placement in figure.placements)]


def _label(line: Line, drawn: Sequence[Line]) -> str:
    """Return a line's name in the legend, with its kind."""
    several = len({other.topology for other in drawn if other.topology}) > 1
    said = f"{line.label}, {line.topology}" if several and line.topology else line.label
    return f"{said} ({'modelled' if line.machine else 'measured here'})"


def _look(line: Line, drawn: Sequence[Line]) -> dict[str, Any]:
    """Return colour and marker."""
    number = list(drawn).index(line)
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}


def _overheads(axes: Axes, reproduction: Reproduction, figure: Figure, placement: str) -> None:
    """Draw what lines take over others, in percent."""
    drawn = _drawn(reproduction, figure)
    for line, other in figure.overheads:
        values, base = reproduction.values(line, placement), reproduction.values(other, placement)
        xs = sorted(values.keys() & base.keys())
        if xs:
            percent = [100 * (values[x] / base[x] - 1) for x in xs]
            axes.plot([math.log2(x) for x in xs], percent, linestyle=_dashes(line), linewidth=1.4, **_look(line, drawn))
    axes.axhline(0, color="0.4", linewidth=0.8)
    axes.margins(x=0.06)


def _dashes(line: Line) -> tuple[int, tuple[int, ...]]:
    """Modelled lines are dashed, measured ones solid."""
    return (0, (5, 2)) if line.machine else (0, ())


def _panel(axes: Axes, reproduction: Reproduction, figure: Figure, placement: str, own: Sequence[Points]) -> None:
    drawn = _drawn(reproduction, figure)
    tables = reproduction.tables("band")
    base = tables.get((GIVEN, placement), {})
    for number, line in enumerate(drawn):
        scale = quantity_of(line).scale
        values = {x: scale * value for x, value in reproduction.values(line, placement).items()}
        look = _look(line, drawn)
        xs = sorted(values)
        axes.plot(
            [math.log2(x) for x in xs], [values[x] for x in xs], linestyle=_dashes(line),
            linewidth=0.9 if line in figure.beside else 1.6, label=_label(line, drawn), zorder=4, **look,
        )  # fmt: skip
        for x, before in base.get(line, {}).items():
            there = [
                lines[line][x] for (name, where), lines in tables.items()
                if where == placement and name != GIVEN and x in lines.get(line, {})
            ]  # fmt: skip
            if x in values and there:
                low, high = (values[x] * end / before for end in (min(there), max(there)))
                at = math.log2(x) + _OFFSET * (number - (len(drawn) - 1) / 2)
                axes.vlines(at, low, high, color=look["color"], linewidth=2.4, alpha=0.45, zorder=3)
    for number, points in enumerate(own):
        xs_own, ys_own = zip(*points.points, strict=True)
        axes.plot(
            [math.log2(x) for x in xs_own], ys_own, color="0.25", linestyle=":", linewidth=1.2, markerfacecolor="white",
            marker=MARKERS[(number + 3) % len(MARKERS)], label=f"{points.series} (published, taken by the reader)",
            zorder=5,
        )  # fmt: skip
    for judged in reproduction.judged:
        claim = judged.claim
        if judged.figure == figure and claim.comparison == "<=" and claim.unit == quantity_of(figure.lines[0]).shown:
            axes.axhline(float(claim.value), color="0.4", linewidth=0.9, linestyle="-.", zorder=2,
                         label=f"published: at most {claim.published}")  # fmt: skip
    ticks = sorted({x for line in drawn for x in reproduction.values(line, placement)})
    axes.xaxis.set_major_locator(FixedLocator([math.log2(x) for x in ticks]))
    axes.set_xticks([math.log2(x) for x in ticks], [str(x) for x in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.margins(x=0.06)
    axes.set_title(f"placement {placement}", fontsize=9, fontweight="normal")


def _finish(drawing: Drawing, axes: Axes, reproduction: Reproduction, figure: Figure) -> None:
    handles, labels = axes.get_legend_handles_labels()
    inches = drawing.get_size_inches()[0]
    drawing.legend(
        handles, labels, loc="outside upper left", ncols=2, borderaxespad=0.2, columnspacing=1.4, alignment="left",
        title=f"Figure {figure.number}: {figure.title}", title_fontproperties={"size": 10, "weight": "bold"},
    )  # fmt: skip
    effort = reproduction.plan.effort(figure)
    by_ranks = figure.axis == "ranks"
    kind = (
        "modelled"
        if all(line.machine for line in _drawn(reproduction, figure))
        else "dashed: modelled, solid: measured"
    )
    parts = [f"{kind}, {effort.iterations} {'updates per rank' if by_ranks else 'round trips'}, data verified"]
    if effort.band_xs:
        where = f"{', '.join(map(str, effort.band_xs))} {'ranks' if by_ranks else 'bytes'}"
        scaled = f"{effort.band_iterations} {'updates per rank' if by_ranks else 'round trips'}, scaled to the line"
        parts.append(
            f"bars: the whole band of the machines' estimates, each alone and 16 corners, at {where} ({scaled})"
        )
    text = "\n".join(textwrap.wrap(" · ".join(parts), int(inches * 17)))
    drawing.supxlabel(text, fontsize=7, color="0.35", x=0.01, ha="left")


def draw_heat_maps(reproduction: Reproduction, figure: Figure) -> list[Picture]:
    """Draw how busy each link was at the ranks that a figure names.

    Parameters
    ----------
    reproduction : Reproduction
        What was run.
    figure : Figure
        Which.

    Returns
    -------
    list of Picture
        One for each line, placement and number of ranks that has links.
    """
    known = {table["run_id"] for table in reproduction.result.link_tables()}
    pictures = []
    for line in figure.heat_lines:
        for placement in figure.placements:
            for ranks in figure.heat_ranks:
                run_id = reproduction.run_id(line, placement, ranks)
                if run_id in known:
                    title = f"{line.label} on {line.topology}, placement {placement}, {ranks} ranks (modelled)"
                    name = f"links_{line.label.lower()}_{line.topology.partition(':')[0]}_{placement}_{ranks}"
                    drawing = draw_point_links(reproduction.result, run_id, title)
                    pictures.append(Picture(name, figure.number, title, drawing, "png"))
    return pictures


def save(picture: Picture, folder: Path) -> list[Path]:
    """Save a picture: plots as SVG and PNG, heat maps as PNG.

    Parameters
    ----------
    picture : Picture
        What.
    folder : Path
        Created if need be.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / f"{picture.name}.{picture.ending}"]
    written[0].write_bytes(picture.content)
    if picture.ending == "svg":
        written.append(folder / f"{picture.name}.png")
        written[1].write_bytes(picture.rendered("png"))
    return written
