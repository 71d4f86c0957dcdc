"""How busy each link was: grids as a map of nodes and links, other topologies as bars sorted by how busy they were."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import Colormap, ListedColormap, Normalize
from matplotlib.ticker import PercentFormatter

from gasmeter.catalogue import topology
from gasmeter.plots.style import Drawing
from gasmeter.rows.links import unpack
from gasmeter.sizes import format_size
from gasmeter.sweeps.placement import ONE_PER_NODE

__all__ = ["draw_links", "links_title"]

_BUSY = "share of the time the link was busy"
_ALONG_Z = (
    "small panels a \N{LEFT RIGHT ARROW} b: links along z, a square for each node, its upper left from a to b, its"
    " lower right from b to a"
)
_EDGE = "0.55"
_NODE = 0.15  # half the side of a node's square, in distances of nodes
_LANE = 0.115  # from the middle of a link to the middle of one direction
_HALF = 0.075  # half the width of an arrow's shaft
_HEAD = 0.16  # length of its head
_STUB = 0.62  # how far a link that wraps around is drawn
_MOST_COLUMNS = 4
_MOST_NUMBERED = 64
_MOST_TICKS = 8

Points = npt.NDArray[np.float64]
Shares = np.ma.MaskedArray[Any, np.dtype[np.float64]]
"""How busy links were; masked where nothing passed."""


def links_title(packed: Mapping[str, Any]) -> str:
    """Return what a picture of links shows: kernel, conduit, machine, topology, and that it is modelled.

    Parameters
    ----------
    packed : mapping
        A table of `gasmeter.stores.result.Result.link_tables`.

    Returns
    -------
    str
        One line.
    """
    what = dict.fromkeys(text for text in (packed["kernel"], packed["op"], packed["variant"]) if text)
    size = [format_size(packed["size_bytes"])] if packed["size_bytes"] else []
    placement = [f"placement {packed['placement']}"] if packed["placement"] not in {"", ONE_PER_NODE} else []
    parts = [f"{packed['conduit']}, machine {packed['machine']}", packed["topology"], *placement]
    return f"{' '.join([*what, *size])} on {', '.join(parts)}, {packed['ranks']} ranks (modelled)"


def draw_links(packed: Mapping[str, Any], title: str = "") -> Drawing:
    """Draw how busy each link was during the last block.

    Parameters
    ----------
    packed : mapping
        A table of `gasmeter.stores.result.Result.link_tables`.
    title : str, optional
        Above the picture; what `links_title` returns by default.

    Returns
    -------
    Drawing
        A ring as a row, 2D grids as a map, 3D grids as one map per z and the links along z beside them; bars of any
        other topology.
    """
    table = unpack(packed)
    shape = topology(str(packed["topology"]))
    extents = [int(extent) for extent in shape["extents"]]
    grid = _Grid.of(table, extents) if 1 <= len(extents) <= 3 else None
    figure = _draw_grid(grid) if grid else _draw_bars(table)
    _finish(figure, table, title or links_title(packed), grid)
    return figure


@dataclass(frozen=True)
class _Grid:
    """Links of a grid of three dimensions; those that are not there have extent 1."""

    extents: tuple[int, int, int]
    begin: npt.NDArray[np.int64]
    axis: npt.NDArray[np.int64]
    sign: npt.NDArray[np.int64]
    wrap: npt.NDArray[np.bool_]
    busy: Shares

    @classmethod
    def of(cls, table: pd.DataFrame, extents: Sequence[int]) -> _Grid:
        whole = (*extents, 1, 1)[:3]
        strides = np.array([1, whole[0], whole[0] * whole[1]])
        vertex, port = table["vertex"].to_numpy(np.int64), table["port"].to_numpy(np.int64)
        begin = vertex[:, None] // strides % np.array(whole)
        axis, sign = port // 2, 1 - 2 * (port % 2)
        there = begin[np.arange(len(begin)), axis] + sign
        wrap = (there < 0) | (there >= np.array(whole)[axis])
        busy = np.ma.masked_where(table["packets"].to_numpy() == 0, table["busy"].to_numpy(float))
        return cls((whole[0], whole[1], whole[2]), begin, axis, sign, wrap, busy)

    @property
    def wraps(self) -> bool:
        return bool(self.wrap.any())

    def arrows(self, z: int) -> tuple[list[Points], Shares]:
        """Return the outlines of the links within a slice and how busy each was."""
        inside = np.flatnonzero((self.begin[:, 2] == z) & (self.axis < 2))
        return [self._arrow(int(link)) for link in inside], self.busy[inside]

    def _arrow(self, link: int) -> Points:
        """Return an arrow on the right-hand lane of its link; one that wraps ends outside the grid."""
        length = _STUB if self.wrap[link] else 1 - _NODE
        shaft = [(_NODE, -_HALF), (length - _HEAD, -_HALF), (length, 0), (length - _HEAD, _HALF), (_NODE, _HALF)]
        points = np.array(shaft) + np.array([0, -_LANE])
        along = np.array([(1, 0), (0, 1)])[self.axis[link]] * self.sign[link]
        across = np.array([-along[1], along[0]])
        place: Points = self.begin[link, :2] + points[:, :1] * along + points[:, 1:] * across
        return place

    def gaps(self) -> list[tuple[int, int]]:
        """Return the pairs of slices that links along z join."""
        last = self.extents[2] - 1
        pairs = [(z, z + 1) for z in range(last)]
        return [*pairs, (last, 0)] if (self.wrap & (self.axis == 2)).any() else pairs

    def cells(self, low: int, high: int) -> tuple[list[Points], Shares]:
        """Return the links between two slices: triangles in the upper left to the second, in the lower right back."""
        up = (self.begin[:, 2] == low) & (self.sign > 0)
        down = (self.begin[:, 2] == high) & (self.sign < 0)
        between = np.flatnonzero((self.axis == 2) & (up | down))
        corners = {1: [(-0.44, -0.36), (-0.44, 0.44), (0.36, 0.44)], -1: [(0.44, 0.36), (0.44, -0.44), (-0.36, -0.44)]}
        places = [self.begin[link, :2] + np.array(corners[int(self.sign[link])]) for link in between]
        return places, self.busy[between]


def _colours() -> Colormap:
    """Dark is busy all the time, white is idle; lightness falls evenly, so that it reads in grey too."""
    whole = ListedColormap(mpl.colormaps["magma_r"](np.linspace(0.04, 0.94, 256)), name="busy")
    return whole.with_extremes(bad="white")


def _paint(axes: Axes, shapes: tuple[list[Points], Shares]) -> None:
    outlines, busy = shapes
    painted = PolyCollection(outlines, cmap=_colours(), norm=Normalize(0, 1), edgecolors=_EDGE, linewidths=0.3)
    painted.set_array(busy)
    axes.add_collection(painted)


def _plane(axes: Axes, grid: _Grid, *, margin: float) -> None:
    width, height, _ = grid.extents
    axes.set_xlim(-margin, width - 1 + margin)
    axes.set_ylim(-min(margin, 0.5) if height == 1 else -margin, height - 1 + (0.5 if height == 1 else margin))
    axes.set_aspect("equal")
    axes.grid(visible=False)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.tick_params(length=0)
    axes.set_xticks(range(0, width, math.ceil(width / _MOST_TICKS)))
    axes.set_yticks(range(0, height, math.ceil(height / _MOST_TICKS)) if height > 1 else [])


def _draw_slice(axes: Axes, grid: _Grid, z: int) -> None:
    width, height, _ = grid.extents
    _plane(axes, grid, margin=0.75 if grid.wraps else 0.4)
    _paint(axes, grid.arrows(z))
    corner = _NODE * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    nodes = [corner + np.array([x, y]) for y in range(height) for x in range(width)]
    axes.add_collection(PolyCollection(nodes, facecolors="0.93", edgecolors="0.35", linewidths=0.5))
    if grid.extents[2] == 1 and width * height <= _MOST_NUMBERED:
        for x, y in ((x, y) for y in range(height) for x in range(width)):
            axes.text(x, y, str(x + y * width), fontsize=5.5, ha="center", va="center", color="0.2")


def _draw_grid(grid: _Grid) -> Drawing:
    width, height, depth = grid.extents
    if depth == 1 and height == 1:
        figure = Drawing(figsize=(7.5, 2.6), layout="constrained")
        axes = figure.subplots()
        _draw_slice(axes, grid, 0)
        axes.set_xlabel("node")
        return figure
    if depth == 1:
        inches = min(7.5, max(4.2, 0.72 * width + 1.4))
        figure = Drawing(
            figsize=(inches, max(2.0, inches * (height + 0.6) / (width + 1.6) + 0.6)), layout="constrained"
        )
        axes = figure.subplots()
        _draw_slice(axes, grid, 0)
        axes.set_xlabel("node x")
        axes.set_ylabel("node y")
        return figure
    gaps = grid.gaps()
    columns = min(depth, _MOST_COLUMNS)
    span = 2 if len(gaps) <= columns else 1
    slices, small = math.ceil(depth / columns), math.ceil(span * len(gaps) / (2 * columns))
    side = 7.6 / columns
    height_in = (side * (height + 0.5) / (width + 0.5) + 0.25) * (slices + 0.55 * small) + 1.0
    figure = Drawing(figsize=(9.0, height_in), layout="constrained")
    places = figure.add_gridspec(slices + small, 2 * columns, height_ratios=[1.0] * slices + [0.55] * small)
    for z in range(depth):
        row, column = divmod(z, columns)
        axes = figure.add_subplot(places[row, 2 * column : 2 * column + 2])
        _draw_slice(axes, grid, z)
        axes.set_title(f"z = {z}", fontsize=8, fontweight="normal")
        if column == 0:
            axes.set_ylabel("node y")
        else:
            axes.set_yticklabels([])
        if z + columns >= depth:
            axes.set_xlabel("node x")
        else:
            axes.set_xticklabels([])
    for index, (low, high) in enumerate(gaps):
        row, column = divmod(span * index, 2 * columns)
        axes = figure.add_subplot(places[slices + row, column : column + span])
        _plane(axes, grid, margin=0.55)
        _paint(axes, grid.cells(low, high))
        axes.set_title(f"z {low} \N{LEFT RIGHT ARROW} {high}", fontsize=7, fontweight="normal")
        axes.set_xticks([])
        axes.set_yticks([])
    return figure


def _draw_bars(table: pd.DataFrame) -> Drawing:
    """One panel per class of ports (up, down, local, …), the busiest link first."""
    classes = table.assign(cls=[name.split()[0] for name in table["port_name"]])
    panels = [
        (str(name), rows["busy"].sort_values(ascending=False)) for name, rows in classes.groupby("cls", sort=False)
    ]
    figure = Drawing(figsize=(7.2, 1.15 * len(panels) + 1.4), layout="constrained")
    places = figure.subplots(len(panels), 1, squeeze=False, sharey=True)[:, 0]
    for axes, (name, busy) in zip(places, panels, strict=True):
        colours = _colours()(busy.to_numpy(float))
        edge = _EDGE if len(busy) <= 200 else "none"
        axes.bar(np.arange(len(busy)), busy.to_numpy(float), width=1.0, color=colours, edgecolor=edge, linewidth=0.4)
        axes.set_xlim(-0.5, len(busy) - 0.5)
        axes.set_ylim(0, 1)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        axes.grid(visible=False, axis="x")
        axes.set_xticks([])
        begins = {"up": "towards the top", "down": "towards the nodes", "router": "node to router"}
        begins |= {"terminal": "router to node", "local": "within a group", "global": "between groups"}
        axes.set_title(f"{name}: {begins.get(name, '')}, {len(busy)} links", fontsize=8, fontweight="normal")
    places[-1].set_xlabel("links, the busiest first")
    return figure


def _finish(figure: Drawing, table: pd.DataFrame, title: str, grid: _Grid | None) -> None:
    flat = grid is not None and grid.extents[1:] == (1, 1)
    inches = figure.get_size_inches()[0]
    figure.suptitle(
        "\n".join(textwrap.wrap(title, int(inches * 10.5))), fontsize=10, fontweight="bold", x=0.01, ha="left"
    )
    bar = figure.colorbar(
        ScalarMappable(Normalize(0, 1), _colours()), ax=figure.axes, fraction=0.05, aspect=30, pad=0.02, shrink=0.9,
        orientation="horizontal" if flat else "vertical", format=PercentFormatter(1.0),
    )  # fmt: skip
    bar.set_label(_BUSY)
    busiest = table.iloc[int(table["busy"].argmax())]
    parts = [
        f"busiest link {busiest['busy']:.0%}: {busiest['vertex']} \N{RIGHTWARDS ARROW} {busiest['to']}"
        f" ({busiest['port_name']})",
        f"mean of all links {table['busy'].mean():.0%}",
        f"{int((table['packets'] == 0).sum())} of {len(table)} idle{'' if grid is None else ' (white)'}",
        "last block",
        *(["stubs: links that wrap around"] if grid and grid.wraps else []),
        *([_ALONG_Z] if grid and grid.extents[2] > 1 else []),
    ]
    text = "\n".join(textwrap.wrap(" · ".join(parts), int(inches * 17)))
    figure.supxlabel(text, fontsize=7, color="0.35", x=0.01, ha="left")
