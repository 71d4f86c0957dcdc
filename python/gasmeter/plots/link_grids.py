"""Links of rings, meshes and tori as maps: nodes in their places, an arrow for each direction of a link."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.gridspec import GridSpec

from gasmeter.plots.link_looks import EDGE, SCALE, TEXT, LinkMap, Points, colours, mark_faulty, write_labels
from gasmeter.plots.style import Drawing

__all__ = ["Grid", "draw_grid"]

_NODE = 0.15  # half the side of a node's square, in distances of nodes
_LANE = 0.115  # from the middle of a link to the middle of one direction
_HALF = 0.075  # half the width of an arrow's shaft
_HEAD = 0.16  # length of an arrow's head
_STUB = 0.62  # drawn length of a link that wraps around
_MOST_COLUMNS = 4
_MOST_NUMBERED = 64
_MOST_TICKS = 8
_ACROSS = 6.6  # inches of all slices of a row
_BESIDE, _ABOVE_AND_BELOW = 1.0, 1.0  # inches beside a map, and for its title and the names of its columns
_TITLE = 11  # characters per inch
_SMALL = 0.55  # height of a panel of links along z, in heights of a slice


@dataclass(frozen=True)
class Grid:
    """Links of a grid of three dimensions; missing dimensions have extent 1."""

    extents: tuple[int, int, int]  # nodes along x, y and z
    begin: npt.NDArray[np.int64]  # coordinates where each direction of a link begins
    axis: npt.NDArray[np.int64]  # axis of each direction
    sign: npt.NDArray[np.int64]  # direction along the axis
    wrap: npt.NDArray[np.bool_]  # whether it joins the ends

    @classmethod
    def of(cls, table: pd.DataFrame, extents: Sequence[int]) -> Grid:
        """Return the grid of a whole table of links, in the table's order; `extents` has one to three numbers."""
        whole = (*extents, 1, 1)[:3]
        strides = np.array([1, whole[0], whole[0] * whole[1]])
        vertex, port = table["vertex"].to_numpy(np.int64), table["port"].to_numpy(np.int64)
        begin = vertex[:, None] // strides % np.array(whole)
        axis, sign = port // 2, 1 - 2 * (port % 2)
        far_end = begin[np.arange(len(begin)), axis] + sign
        wrap = (far_end < 0) | (far_end >= np.array(whole)[axis])
        return cls((whole[0], whole[1], whole[2]), begin, axis, sign, wrap)

    @property
    def wraps(self) -> bool:
        """Whether any link joins ends."""
        return bool(self.wrap.any())

    def slice_links(self, z: int) -> list[int]:
        """Return the table places of the links within slice z."""
        return [int(link) for link in np.flatnonzero((self.begin[:, 2] == z) & (self.axis < 2))]

    def arrow(self, link: int) -> Points:
        """Return the outline of an arrow on the right-hand lane of its link; one that wraps ends outside the grid."""
        length = _STUB if self.wrap[link] else 1 - _NODE
        shaft = [(_NODE, -_HALF), (length - _HEAD, -_HALF), (length, 0), (length - _HEAD, _HALF), (_NODE, _HALF)]
        points = np.array(shaft) + np.array([0, -_LANE])
        along = np.array([(1, 0), (0, 1)])[self.axis[link]] * self.sign[link]
        across = np.array([-along[1], along[0]])
        place: Points = self.begin[link, :2] + points[:, :1] * along + points[:, 1:] * across
        return place

    def gaps(self) -> list[tuple[int, int]]:
        """Return the pairs of slices that links along z join, in order, the one that wraps last."""
        last = self.extents[2] - 1
        pairs = [(z, z + 1) for z in range(last)]
        return [*pairs, (last, 0)] if (self.wrap & (self.axis == 2)).any() else pairs

    def between(self, low: int, high: int) -> list[int]:
        """Return the table places of the links between two slices of `gaps`."""
        up = (self.begin[:, 2] == low) & (self.sign > 0)
        down = (self.begin[:, 2] == high) & (self.sign < 0)
        return [int(link) for link in np.flatnonzero((self.axis == 2) & (up | down))]

    def cell(self, link: int) -> Points:
        """Return the outline of a link along z in its cell: upper left to the second slice, lower right back."""
        corners = {1: [(-0.44, -0.36), (-0.44, 0.44), (0.36, 0.44)], -1: [(0.44, 0.36), (0.44, -0.44), (-0.36, -0.44)]}
        place: Points = self.begin[link, :2] + np.array(corners[int(self.sign[link])])
        return place


def draw_grid(grid: Grid, maps: Sequence[LinkMap]) -> Drawing:
    """Draw a ring as a row, a 2D grid as a map, a 3D grid as a map for each z with the links along z below.

    Maps stand side by side; those of rings and 3D grids stand below each other. Title and key are missing.
    """
    _, height, depth = grid.extents
    stacked = depth > 1 or height == 1
    across, down = (1, len(maps)) if stacked else (len(maps), 1)
    wide, high = _inches(grid)
    figure = Drawing(figsize=(wide * across, high * down + 0.8), layout="constrained")
    if depth > 1:
        _draw_slices(figure, grid, maps)
        return figure
    for axes, shown in zip(figure.subplots(down, across, squeeze=False).flat, maps, strict=True):
        _draw_slice(axes, grid, 0, shown)
        title = textwrap.wrap(shown.title, int(_TITLE * (wide - _BESIDE)))
        axes.set_title("\n".join(title), fontsize=8, fontweight="normal")
        axes.set_xlabel("node" if height == 1 else "node x")
        if height > 1:
            axes.set_ylabel("node y")
    return figure


def _inches(grid: Grid) -> tuple[float, float]:
    """Return the size of one map."""
    width, height, depth = grid.extents
    if depth > 1:
        columns, slices, small, _ = _columns(grid)
        return 9.0, (_ACROSS / columns * (height + 0.5) / (width + 0.5) + 0.25) * (slices + _SMALL * small) + 0.5
    if height == 1:
        return 7.5, 2.0
    wide = min(7.5, max(4.2, 0.72 * width + 1.4))
    margin = 2 * _margin(grid) - 1
    return wide, max(1.6, (wide - _BESIDE) * (height + margin) / (width + margin) + _ABOVE_AND_BELOW)


def _margin(grid: Grid) -> float:
    """Return how far a map goes on beyond its nodes, in distances of nodes."""
    return 0.75 if grid.wraps else 0.4


def _columns(grid: Grid) -> tuple[int, int, int, int]:
    """Return slices per row, rows of slices, rows of links along z, and the columns that each takes."""
    columns = min(grid.extents[2], _MOST_COLUMNS)
    span = 2 if len(grid.gaps()) <= columns else 1
    return columns, math.ceil(grid.extents[2] / columns), math.ceil(span * len(grid.gaps()) / (2 * columns)), span


def _draw_slices(figure: Drawing, grid: Grid, maps: Sequence[LinkMap]) -> None:
    columns, slices, small, _ = _columns(grid)
    heights = ([1.0] * slices + [_SMALL] * small) * len(maps)
    places = figure.add_gridspec(len(heights), 2 * columns, height_ratios=heights)
    for number, shown in enumerate(maps):
        _draw_slices_of(figure, places, number * (slices + small), grid, shown)


def _draw_slices_of(figure: Drawing, places: GridSpec, above: int, grid: Grid, shown: LinkMap) -> None:
    """Draw one map below `above` rows of others."""
    depth = grid.extents[2]
    columns, slices, _, span = _columns(grid)
    for z in range(depth):
        row, column = divmod(z, columns)
        axes = figure.add_subplot(places[above + row, 2 * column : 2 * column + 2])
        _draw_slice(axes, grid, z, shown)
        axes.set_title(f"{shown.title}\nz = 0" if z == 0 else f"z = {z}", fontsize=8, fontweight="normal", loc="left")
        if column == 0:
            axes.set_ylabel("node y")
        else:
            axes.set_yticklabels([])
        if z + columns >= depth:
            axes.set_xlabel("node x")
        else:
            axes.set_xticklabels([])
    for index, (low, high) in enumerate(grid.gaps()):
        row, column = divmod(span * index, 2 * columns)
        axes = figure.add_subplot(places[above + slices + row, column : column + span])
        _plane(axes, grid, margin=0.55)
        links = grid.between(low, high)
        _paint(axes, grid, [grid.cell(link) for link in links], links, shown)
        axes.set_title(f"z {low} \N{LEFT RIGHT ARROW} {high}", fontsize=7, fontweight="normal")
        axes.set_xticks([])
        axes.set_yticks([])


def _draw_slice(axes: Axes, grid: Grid, z: int, shown: LinkMap) -> None:
    width, height, depth = grid.extents
    _plane(axes, grid, margin=_margin(grid))
    links = grid.slice_links(z)
    _paint(axes, grid, [grid.arrow(link) for link in links], links, shown)
    corner = _NODE * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    nodes = [corner + np.array([x, y]) for y in range(height) for x in range(width)]
    axes.add_collection(PolyCollection(nodes, facecolors="0.93", edgecolors="0.35", linewidths=0.5))
    if depth == 1 and width * height <= _MOST_NUMBERED:
        for x, y in ((x, y) for y in range(height) for x in range(width)):
            axes.text(x, y, str(x + y * width), fontsize=5.5, ha="center", va="center", color="0.2")


def _paint(axes: Axes, grid: Grid, outlines: list[Points], links: Sequence[int], shown: LinkMap) -> None:
    painted = PolyCollection(outlines, cmap=colours(), norm=SCALE, edgecolors=EDGE, linewidths=0.3)
    painted.set_array(shown.shares[links])
    axes.add_collection(painted)
    mark_faulty(axes, outlines, shown.times[links])
    place_of = dict(zip(links, outlines, strict=True))
    words = [(place_of[link].mean(axis=0), text) for link, text in shown.labels.items() if link in place_of]
    width, _, depth = grid.extents
    inch = (width + 0.5) / (_ACROSS / _columns(grid)[0] if depth > 1 else _inches(grid)[0] - 1)
    write_labels(axes, words, (TEXT[0] * inch, TEXT[1] * inch), above=TEXT[0] * inch > 1)


def _plane(axes: Axes, grid: Grid, *, margin: float) -> None:
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
