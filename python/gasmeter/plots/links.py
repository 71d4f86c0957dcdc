"""Load of each link, and places where packets were held up: maps of grids, tables of colours for other topologies."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from matplotlib.cm import ScalarMappable
from matplotlib.ticker import PercentFormatter

from gasmeter.catalogue import topology
from gasmeter.plots.link_grids import Grid, draw_grid
from gasmeter.plots.link_looks import SCALE, colours, maps_of, marks_of
from gasmeter.plots.link_switches import draw_switches
from gasmeter.plots.style import Drawing
from gasmeter.rows.back_pressure import BackPressure, back_pressure
from gasmeter.rows.links import links_title, whole_table

__all__ = ["draw_links"]

_BUSY = "share of the time the link was busy"
_BOTH = "share"
_TITLE_LINE = 0.17  # inches
_ALONG_Z = (
    "small panels a \N{LEFT RIGHT ARROW} b: links along z, a square for each node, its upper left from a to b, its"
    " lower right from b to a"
)


def draw_links(packed: Mapping[str, Any], title: str = "") -> Drawing:
    """Draw the load of each link during the last block, and blocked packets where buffers were full.

    A ring is a row, a 2D grid a map, a 3D grid a map for each z with links along z below; any other topology has a row
    for each switch and a column for each port. The longest waits stand at the worst links. Dead links are crossed, slow
    ones framed.
    """
    table, pressure = whole_table(packed), back_pressure(packed)
    extents = [int(extent) for extent in topology(str(packed["topology"]))["extents"]]
    grid = Grid.of(table, extents) if 1 <= len(extents) <= 3 else None
    maps = maps_of(pressure)
    figure = draw_grid(grid, maps) if grid else draw_switches(pressure, maps)
    _finish(figure, title or links_title(packed), grid, pressure)
    return figure


def _finish(figure: Drawing, title: str, grid: Grid | None, pressure: BackPressure) -> None:
    flat = grid is not None and grid.extents[1:] == (1, 1)
    inches = figure.get_size_inches()[0]
    heads = textwrap.wrap(title, int(inches * 10.5))
    marks = marks_of(pressure.times)
    # The key of marks stands in a line of its own below the title.
    figure.suptitle("\n".join([*heads, *([""] if marks else [])]), fontsize=10, fontweight="bold", x=0.01, ha="left")
    if marks:
        below = 1 - (_TITLE_LINE * len(heads) + 0.03) / figure.get_size_inches()[1]
        figure.legend(
            list(marks.values()), list(marks), loc="upper left", bbox_to_anchor=(0, below), ncols=len(marks),
            fontsize=7, frameon=False,
        )  # fmt: skip
    bar = figure.colorbar(
        ScalarMappable(SCALE, colours()), ax=figure.axes, fraction=0.05, aspect=30, pad=0.02, shrink=0.9,
        orientation="horizontal" if flat else "vertical", format=PercentFormatter(1.0),
    )  # fmt: skip
    bar.set_label(_BOTH if pressure.blocked.any() else _BUSY)
    alive = pressure.alive
    busiest, mean = int(pressure.busy.argmax()), float(pressure.busy[alive].mean())
    parts = [
        f"busiest link {pressure.busy[busiest]:.0%}: {pressure.way(busiest)} ({pressure.ports[busiest]})",
        f"mean of all links {mean:.0%}" if mean == 0 or mean >= 0.01 else "mean of all links below 1%",
        f"{int((pressure.packets[alive] == 0).sum())} of {int(alive.sum())} idle (white)",
        "last block",
        *(["times: the longest wait for that link"] if pressure.blocked.any() else []),
        *(["stubs: links that wrap around"] if grid and grid.wraps else []),
        *([_ALONG_Z] if grid and grid.extents[2] > 1 else []),
    ]
    lines = [*textwrap.wrap(pressure.sentence(), int(inches * 17)), *textwrap.wrap(" · ".join(parts), int(inches * 17))]
    figure.supxlabel("\n".join(lines), fontsize=7, color="0.35", x=0.01, ha="left")
