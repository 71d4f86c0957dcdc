"""Plots of a reproduced figure: its lines with their bands, a reader's own points, links as heat maps."""

from __future__ import annotations

import functools
import io
import math
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator

from gasmeter.plots import draw_point_links
from gasmeter.plots.looks import COLOURS, MARKERS
from gasmeter.plots.style import Drawing, styled
from gasmeter.reproduction.digitised import Points
from gasmeter.reproduction.figure import Figure, Line
from gasmeter.reproduction.planning import GIVEN
from gasmeter.reproduction.running import Reproduction

__all__ = ["Picture", "draw_figure", "draw_heat_maps", "save"]

_SIDE_IN, _HEIGHT_IN = 4.3, 4.3
_UNIT = "GUP/s"
_OFFSET = 0.035
_DPI = 110


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
        return buffer.getvalue()


def draw_figure(found: Reproduction, figure: Figure, digitised: Iterable[Points] = ()) -> Picture | None:
    """Draw the lines of a figure, one panel per placement.

    Parameters
    ----------
    found : Reproduction
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
    if not _drawn(found, figure):
        return None
    own = [points for points in digitised if points.figure == figure.number]
    with styled():
        drawing = Drawing(figsize=(_SIDE_IN * len(figure.placements), _HEIGHT_IN), layout="constrained")
        panels = drawing.subplots(1, len(figure.placements), sharey=True, squeeze=False)[0]
        for axes, placement in zip(panels, figure.placements, strict=True):
            _panel(axes, found, figure, placement, own)
        panels[0].set_ylabel("Update rate (GUP/s)")
        panels[0].set_ylim(bottom=0)
        _finish(drawing, panels[0], found, figure)
    title = f"{figure.title}: modelled update rate against ranks"
    return Picture(f"figure_{figure.number}", figure.number, title, drawing)


def _drawn(found: Reproduction, figure: Figure) -> list[Line]:
    lines = (*figure.lines, *figure.beside)
    return [line for line in lines if any(found.values(line, placement) for placement in figure.placements)]


def _several_topologies(lines: Sequence[Line]) -> bool:
    return len({line.topology for line in lines}) > 1


def _panel(axes: Axes, found: Reproduction, figure: Figure, placement: str, own: Sequence[Points]) -> None:
    drawn = _drawn(found, figure)
    tables = found.tables("band")
    base = tables.get((GIVEN, placement), {})
    several = _several_topologies(drawn)
    for number, line in enumerate(drawn):
        values = found.values(line, placement)
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        label = f"{line.label}, {line.topology}" if several else line.label
        xs = sorted(values)
        axes.plot(
            [math.log2(x) for x in xs], [values[x] for x in xs], color=colour, marker=marker, linestyle=(0, (5, 2)),
            linewidth=0.9 if line in figure.beside else 1.6, label=f"{label} (modelled)", zorder=4,
        )  # fmt: skip
        for x, before in base.get(line, {}).items():
            there = [
                lines[line][x] for (name, where), lines in tables.items()
                if where == placement and name != GIVEN and x in lines.get(line, {})
            ]  # fmt: skip
            if x in values and there:
                low, high = (values[x] * end / before for end in (min(there), max(there)))
                at = math.log2(x) + _OFFSET * (number - (len(drawn) - 1) / 2)
                axes.vlines(at, low, high, color=colour, linewidth=2.4, alpha=0.45, zorder=3)
    for number, points in enumerate(own):
        xs_own, ys_own = zip(*points.points, strict=True)
        axes.plot(
            [math.log2(x) for x in xs_own], ys_own, color="0.25", linestyle=":", linewidth=1.2, markerfacecolor="white",
            marker=MARKERS[(number + 3) % len(MARKERS)], label=f"{points.series} (published, taken by the reader)",
            zorder=5,
        )  # fmt: skip
    for judged in found.judged:
        claim = judged.claim
        if judged.figure == figure and claim.comparison == "<=" and claim.unit == _UNIT:
            axes.axhline(float(claim.value), color="0.4", linewidth=0.9, linestyle="-.", zorder=2,
                         label=f"published: at most {claim.published}")  # fmt: skip
    ranks = sorted({x for line in drawn for x in found.values(line, placement)})
    axes.xaxis.set_major_locator(FixedLocator([math.log2(count) for count in ranks]))
    axes.set_xticks([math.log2(count) for count in ranks], [str(count) for count in ranks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.margins(x=0.06)
    axes.set_xlabel("Ranks")
    axes.set_title(f"placement {placement}", fontsize=9, fontweight="normal")


def _finish(drawing: Drawing, axes: Axes, found: Reproduction, figure: Figure) -> None:
    handles, labels = axes.get_legend_handles_labels()
    inches = drawing.get_size_inches()[0]
    drawing.legend(
        handles, labels, loc="outside upper left", ncols=2, borderaxespad=0.2, columnspacing=1.4, alignment="left",
        title=f"Figure {figure.number}: {figure.title}", title_fontproperties={"size": 10, "weight": "bold"},
    )  # fmt: skip
    effort = found.plan.effort(figure)
    parts = [f"modelled, {effort.iterations} updates per rank, data verified"]
    if effort.band_ranks:
        parts.append(
            f"bars: the whole band of the machine's estimates, each alone and 16 corners, at"
            f" {', '.join(map(str, effort.band_ranks))} ranks ({effort.band_iterations} updates per rank, scaled to the"
            " line)"
        )
    text = "\n".join(textwrap.wrap(" · ".join(parts), int(inches * 17)))
    drawing.supxlabel(text, fontsize=7, color="0.35", x=0.01, ha="left")


def draw_heat_maps(found: Reproduction, figure: Figure) -> list[Picture]:
    """Draw how busy each link was at the ranks that a figure names.

    Parameters
    ----------
    found : Reproduction
        What was run.
    figure : Figure
        Which.

    Returns
    -------
    list of Picture
        One for each line, placement and number of ranks that has links.
    """
    known = {table["run_id"] for table in found.result.link_tables()}
    pictures = []
    for line in figure.heat_lines:
        for placement in figure.placements:
            for ranks in figure.heat_ranks:
                run_id = found.run_id(line, placement, ranks)
                if run_id in known:
                    title = f"{line.label} on {line.topology}, placement {placement}, {ranks} ranks (modelled)"
                    name = f"links_{line.label.lower()}_{line.topology.partition(':')[0]}_{placement}_{ranks}"
                    drawing = draw_point_links(found.result, run_id, title)
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
