"""Plots of a reproduced figure: its panels, a reader's own points, links as heat maps."""

from __future__ import annotations

import functools
import io
import itertools
import re
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from PIL import Image

from gasmeter.plots import draw_point_links
from gasmeter.plots.constants import constants
from gasmeter.plots.lean import data_uri, lean
from gasmeter.plots.palette import MARKERS
from gasmeter.plots.style import Drawing, styled, subtitle
from gasmeter.rendering.pages import png_uri
from gasmeter.reproduction.plan.figure import RANKS, SIZE, Figure
from gasmeter.reproduction.report.digitised import Points
from gasmeter.reproduction.report.looks import looks
from gasmeter.reproduction.report.panel_axes import BEHIND, Across, draw_panel, scale_panel
from gasmeter.reproduction.report.panels import Panel, panels_of
from gasmeter.rows.pictures import embedded

if TYPE_CHECKING:
    from gasmeter.reproduction.run.running import Reproduction

__all__ = ["Picture", "draw_figure", "draw_heat_maps", "save"]

_DPI = 110
_LEVELS, _PALETTE = 20, 256
_WIDTH_IN, _MORE_IN = 5.2, 2.4  # a phone shows 4 inches: letters stay above 7 pixels there
_HEIGHT_IN, _DERIVED_IN = 2.7, 1.9
# Room of texts in inches: letters of 9 points are 1/17 wide, lines 0.17 high.
_LETTERS_PER_INCH, _LINE_IN, _HANDLE_IN = 15.5, 0.175, 0.6
_LEFT_IN, _RIGHT_IN, _GAP_IN, _AXIS_IN, _PLACE_IN, _EDGE_IN = 0.78, 0.15, 0.75, 0.48, 0.22, 0.08


class Picture:
    """A picture that is rendered once.

    `name` is the file name without ending, `title` describes the picture for people who cannot see it.
    """

    def __init__(self, name: str, figure: str, title: str, drawing: Drawing, ending: str = "svg") -> None:
        self.name, self.figure, self.title, self.ending = name, figure, title, ending
        self.drawing = drawing

    @functools.cached_property
    def content(self) -> bytes:
        """File content for the report."""
        return self.rendered(self.ending)

    @functools.cached_property
    def small(self) -> str:
        """The picture as an address for a page, in the form that takes fewer bytes; both say the same of their rows."""
        forms = [data_uri(self.rendered("svg"))]
        if self.ending == "png":
            forms.append(png_uri(self.content))
        return min(forms, key=len)

    def rendered(self, ending: str) -> bytes:
        """Return the picture as a file; the same picture gives the same bytes."""
        buffer = io.BytesIO()
        with styled():
            if ending == "svg":
                mpl.rcParams["svg.fonttype"] = "none"  # letters as text take half the bytes of outlines
                self.drawing.savefig(buffer, format="svg", metadata={"Date": None})
                return embedded(lean(buffer.getvalue()), ending, self.drawing.facts)
            self.drawing.savefig(buffer, format="png", dpi=_DPI)
        reduced = _in_steps(buffer) if self.ending == "png" else _few_colours(buffer)
        return embedded(reduced, ending, self.drawing.facts)


def _few_colours(buffer: io.BytesIO) -> bytes:
    """Return a picture with its own palette; on lines and bands over white the change is invisible."""
    reduced = io.BytesIO()
    Image.open(buffer).convert("RGB").quantize(_PALETTE, dither=Image.Dither.NONE).save(reduced, "png", optimize=True)
    return reduced.getvalue()


def _in_steps(buffer: io.BytesIO) -> bytes:
    """Return a picture whose channels move by 2.5 % at most: a third of the bytes.

    The steps are the same everywhere: a palette of its own would put stripes into a colour bar.
    """
    levels = [round(round(value / 255 * _LEVELS) * 255 / _LEVELS) for value in range(256)]
    image = Image.open(buffer).convert("RGB").point(levels * 3)
    counted_colours = image.getcolors(_PALETTE)
    if counted_colours:  # keep exactly these colours, the most frequent first
        colours = [cast(tuple[int, int, int], colour) for _, colour in sorted(counted_colours, reverse=True)]
        colours += colours[:1] * (_PALETTE - len(colours))
        palette = Image.new("P", (1, 1))
        palette.putpalette(list(itertools.chain.from_iterable(colours)))
        image = image.quantize(palette=palette, dither=Image.Dither.NONE)
    reduced = io.BytesIO()
    image.save(reduced, "png", optimize=True)
    return reduced.getvalue()


def draw_figure(reproduction: Reproduction, figure: Figure, digitised: Iterable[Points] = ()) -> Picture | None:
    """Draw the panels of a figure: its lines, lines beside them and derived ones; None for a table or without runs.

    `digitised` are a reader's own points.
    """
    if figure.table:
        return None
    panels = panels_of(reproduction, figure, looks(reproduction.plan.paper))
    if not panels:
        return None
    given = [points for points in digitised if points.figure == figure.number]
    effort = reproduction.plan.effort(figure)
    xs = sorted({x for panel in panels for curve in panel.curves for values in curve.values.values() for x in values})
    across = Across(figure, xs, {x: figure.x_text(x, effort) for x in xs})
    with styled():
        drawing = _laid_out(reproduction, figure, panels, across, given)
    against = {RANKS: "ranks", SIZE: "payload"}.get(figure.axis, figure.axis)
    title = f"{figure.title}: {panels[0].label} against {against}"
    return Picture(f"figure_{figure.number}", figure.number, title, drawing)


def _alike(reproduction: Reproduction, figure: Figure) -> Panel | None:
    """Return the first panel of the figure with the same scale, if it was run."""
    others = (other for other in reproduction.plan.figures if other.number == figure.scale_of)
    panels = (panels_of(reproduction, other, looks(reproduction.plan.paper)) for other in others)
    return next((drawn[0] for drawn in panels if drawn), None)


def _laid_out(
    reproduction: Reproduction, figure: Figure, panels: Sequence[Panel], across: Across, given: Sequence[Points]
) -> Drawing:
    """Return the drawing with all places in inches, so that no text meets another."""
    columns = len(figure.placements)
    width = _WIDTH_IN + _MORE_IN * (columns - 1)
    title = textwrap.wrap(f"Figure {figure.number}: {figure.title}", int((width - 0.2) * 12))
    foot = textwrap.wrap(_foot(reproduction, figure, panels), int((width - 0.2) * 18))
    below = subtitle(_constants(reproduction, figure), width).splitlines()
    legends = [_legend_rows(panel, given if number == 0 else (), width) for number, panel in enumerate(panels)]
    heads = [_LINE_IN * (rows + bool(panel.title)) + _EDGE_IN for panel, (rows, _) in zip(panels, legends, strict=True)]
    places_in = _PLACE_IN if columns > 1 else 0.0
    boxes = [_DERIVED_IN if panel.derived else _HEIGHT_IN for panel in panels]
    rows_in = [head + places_in + box + _AXIS_IN for head, box in zip(heads, boxes, strict=True)]
    title_in = 0.1 + 0.19 * len(title)
    top_in, foot_in = title_in + 0.15 * len(below) + 0.04, 0.08 + 0.14 * len(foot)
    height = top_in + sum(rows_in) + foot_in
    drawing = Drawing(figsize=(width, height))
    drawing.set_layout_engine("none")  # stays so: a figure without an engine gets the style's on saving
    drawing.text(0.1 / width, 1 - 0.08 / height, "\n".join(title), va="top", size=10, weight="bold")
    drawing.text(0.1 / width, 1 - title_in / height, "\n".join(below), va="top", size=7.5, color="0.3", linespacing=1.2)
    drawing.text(0.1 / width, 0.06 / height, "\n".join(foot), va="bottom", size=7.5, color="0.3", linespacing=1.2)
    at = height - top_in
    box_width = (width - _LEFT_IN - _RIGHT_IN - (columns - 1) * _GAP_IN) / columns
    for number, panel in enumerate(panels):
        bottom = at - rows_in[number] + _AXIS_IN
        row: list[Axes] = []
        for column, placement in enumerate(figure.placements):
            left = _LEFT_IN + column * (box_width + _GAP_IN)
            place = (left / width, bottom / height, box_width / width, boxes[number] / height)
            axes = drawing.add_axes(place, sharey=row[0] if row else None)
            draw_panel(axes, panel, across, placement)
            if number == 0:
                _draw_own(axes, given, across)
            if columns > 1:
                axes.set_title(f"placement {placement}", fontsize=8.5, fontweight="normal", pad=4)
            axes.set_xlabel(across.label, labelpad=2)
            row.append(axes)
        if number == 0:
            scale_panel(row, panel, [y for points in given for _, y in points.points], _alike(reproduction, figure))
        else:
            scale_panel(row, panel)
        _legend(drawing, row[0], panel, legends[number][1], (0.1 / width, (at - 0.02) / height))
        at -= rows_in[number]
    return drawing


def _constants(reproduction: Reproduction, figure: Figure) -> tuple[str, ...]:
    """Return the facts that all lines of a figure share, and the day of their run."""
    lines = [line for line in (*figure.lines, *figure.beside) if any(map(functools.partial(
        reproduction.values, line), figure.placements))]  # fmt: skip
    columns: dict[str, Any] = {
        "kernel": [line.kernel for line in lines],
        "op": [line.op for line in lines],
        "variant": [line.variant for line in lines],
        "conduit": [line.conduit for line in lines],
        "machine": [line.machine for line in lines],
        "topology": [line.topology for line in lines],
        "placement": figure.placements[0] if len(figure.placements) == 1 else "",
        "options": [";".join("=".join(each) for each in (*line.overrides, *line.options)) for line in lines],
        "kind": ["modelled" if line.machine else "measured" for line in lines],
    }
    columns |= {} if figure.axis == RANKS else {"ranks": [line.ranks for line in lines]}
    columns |= {} if figure.axis == SIZE else {"size_bytes": [line.size for line in lines]}
    return constants(pd.DataFrame(columns), reproduction.result.runs)


def _legend_rows(panel: Panel, given: Sequence[Points], width: float) -> tuple[int, int]:
    """Return the number of rows and columns of a panel's legend."""
    labels = [_own_label(points) for points in given]
    labels += [*(curve.label for curve in panel.curves), *(mark.label for mark in panel.marks)]
    labels += [panel.behind_label] if panel.behind else []
    widest = max(map(len, labels)) / _LETTERS_PER_INCH + _HANDLE_IN
    columns = max(1, min(len(labels), int((width - 0.3) / widest)))
    return -(-len(labels) // columns), columns


def _legend(drawing: Drawing, axes: Axes, panel: Panel, columns: int, corner: tuple[float, float]) -> None:
    handles, labels = axes.get_legend_handles_labels()
    last = {mark.label for mark in panel.marks}
    order = sorted(range(len(labels)), key=lambda number: labels[number] in last)
    handles, labels = [handles[number] for number in order], [labels[number] for number in order]
    if panel.behind:
        handles.append(Line2D([], [], color=BEHIND, linewidth=1.0))
        labels.append(panel.behind_label)
    drawing.legend(
        handles, labels, loc="upper left", bbox_to_anchor=corner, ncols=columns, borderaxespad=0, borderpad=0,
        columnspacing=1.6, labelspacing=0.35, alignment="left", title=panel.title or None,
        title_fontproperties={"size": 8.5, "style": "italic"},
    )  # fmt: skip


def _own_label(points: Points) -> str:
    return f"{points.series} (published, taken by the reader)"


def _draw_own(axes: Axes, given: Sequence[Points], across: Across) -> None:
    for number, points in enumerate(given):
        xs, ys = zip(*points.points, strict=True)
        axes.plot(
            [across.place(x) for x in xs], ys, color="0.25", linestyle=":", linewidth=1.2, markerfacecolor="white",
            marker=MARKERS[(number + 3) % len(MARKERS)], label=_own_label(points), zorder=5,
        )  # fmt: skip


def _foot(reproduction: Reproduction, figure: Figure, panels: Sequence[Panel]) -> str:
    lines = [line for line in (*figure.lines, *figure.beside) if any(map(functools.partial(
        reproduction.values, line), figure.placements))]  # fmt: skip
    if all(line.machine for line in lines):
        kind = "all lines modelled (exact virtual time)"
    elif any(line.machine for line in lines):
        kind = "long dashes: modelled (exact virtual time); others: measured on this computer"
    else:
        kind = "measured on this computer"
    parts = [f"{kind}, data verified"]
    curve_bands = (bands for panel in panels for curve in panel.curves for bands in curve.bands.values())
    if any(low < high for bands in curve_bands for _, low, high in bands.values()):
        parts.append("shaded: where 90 % of the draws of all estimates lie; lines: the machines as given")
    if any(panel.marks for panel in panels):
        parts.append("hollow, grey: published")
    return " \N{MIDDLE DOT} ".join(parts)


def draw_heat_maps(reproduction: Reproduction, figure: Figure) -> list[Picture]:
    """Draw the load of each link for every line, placement and number of ranks that a figure names."""
    if not figure.heat_lines:
        return []
    table_ids = {table["run_id"] for table in reproduction.result.link_tables()}
    pictures = []
    for line in figure.heat_lines:
        for placement in figure.placements:
            for ranks in figure.heat_ranks:
                run_id = reproduction.run_id(line, placement, ranks)
                if run_id in table_ids:
                    title = f"{line.label} on {line.topology}, placement {placement}, {ranks} ranks (modelled)"
                    words = (line.label.lower(), line.topology.partition(":")[0], placement, str(ranks))
                    name = "_".join(["links", *(re.sub(r"[^a-z0-9.-]+", "-", word) for word in words)])
                    drawing = draw_point_links(reproduction.result, run_id, title)
                    pictures.append(Picture(name, figure.number, title, drawing, "png"))
    return pictures


def save(picture: Picture, folder: Path) -> list[Path]:
    """Save a plot as SVG and PNG, a heat map as PNG; return the files. Raises OSError if the folder refuses."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / f"{picture.name}.{picture.ending}"]
    written[0].write_bytes(picture.content)
    if picture.ending == "svg":
        written.append(folder / f"{picture.name}.png")
        written[1].write_bytes(picture.rendered("png"))
    return written
