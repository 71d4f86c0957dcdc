"""Links of fat trees, dragonflies and other networks of switches: a row for each switch, a column for each port."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from itertools import groupby

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from gasmeter.plots.link_looks import EDGE, SCALE, TEXT, LinkMap, Shares, colours, mark_faulty, write_labels
from gasmeter.plots.style import Drawing
from gasmeter.rows.back_pressure import BackPressure

__all__ = ["Places", "draw_switches", "places_of"]

_FROM_NODES = "from nodes"
_MOST_LINES = 24
_STEPS = [first * 10**power for power in range(8) for first in (1, 2, 5)]  # steps of numbers at ticks
_MOST_EDGED = (64, 60)  # rows and columns; lines around more cells would hide them

Places = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""Row and column of each link."""


def places_of(pressure: BackPressure) -> tuple[Places, list[str], list[int]]:
    """Return the row and column of each link of switches, the names of columns and the switch of each row.

    A link from a node stands in the row of its switch, left of the switch's own ports. A single switch has a row of
    links into it, a row of links out of it, and a column for each node.
    """
    switches = sorted({int(v) for v in (*pressure.begin, *pressure.end) if v >= pressure.nodes})
    from_node = pressure.begin >= pressure.nodes
    if len(switches) == 1:
        rows, columns = from_node.astype(np.int64), np.where(from_node, pressure.end, pressure.begin)
        return (rows, columns), [f"node {node}" for node in range(pressure.nodes)], switches
    row_of = {switch: row for row, switch in enumerate(switches)}
    rows = np.array([row_of[int(v)] for v in np.where(from_node, pressure.begin, pressure.end)])
    nodes_of: dict[int, int] = {}
    entry = np.zeros(len(rows), np.int64)
    for link in np.flatnonzero(~from_node).tolist():
        entry[link] = nodes_of.setdefault(int(pressure.end[link]), 0)
        nodes_of[int(pressure.end[link])] += 1
    inward = max(nodes_of.values(), default=0)
    names = sorted(
        {pressure.ports[link] for link in np.flatnonzero(from_node).tolist()}, key=_port_key(pressure, from_node)
    )
    column_of = {name: inward + column for column, name in enumerate(names)}
    columns = np.array([column_of[pressure.ports[i]] if from_node[i] else entry[i] for i in range(len(rows))])
    return (rows, columns), [*[f"{_FROM_NODES} {i}" for i in range(inward)], *names], switches


def _port_key(pressure: BackPressure, from_node: npt.NDArray[np.bool_]) -> Callable[[str], tuple[int, int]]:
    """Return a sort key for ports in the order of switches: kinds in order of their first, then their numbers."""
    kinds: list[str] = []
    for link in np.flatnonzero(from_node).tolist():
        kind = pressure.ports[link].split()[0]
        if kind not in kinds:
            kinds.append(kind)
    return lambda name: (kinds.index(name.split()[0]), int(name.split()[1]))


def draw_switches(pressure: BackPressure, maps: Sequence[LinkMap]) -> Drawing:
    """Draw the links of switches as tables of colours, without title and key.

    Maps stand side by side, those of a single switch below each other.
    """
    (rows, columns), names, switches = places_of(pressure)
    single = len(switches) == 1
    across, down = (1, len(maps)) if single else (len(maps), 1)
    over = colours().with_extremes(bad=(0, 0, 0, 0))  # idle links are white below it
    high = 1.1 if single else min(8.0, max(2.2, 0.16 * len(switches) + 0.9))
    figure = Drawing(figsize=(8.0 if single else 4.8 * across, high * down + 1.0), layout="constrained")
    for axes, shown in zip(figure.subplots(down, across, squeeze=False).flat, maps, strict=True):
        shape = (2 if single else len(switches), len(names))
        cells: Shares = np.ma.masked_where(np.ones(shape, bool), np.zeros(shape))
        cells[rows, columns] = shown.shares
        exists = np.zeros(shape, bool)
        exists[rows, columns] = True
        axes.set_facecolor("0.88")  # colour without a link
        axes.grid(visible=False)
        edges = (np.arange(shape[1] + 1) - 0.5, np.arange(shape[0] + 1) - 0.5)
        line = 0.3 if all(extent <= most for extent, most in zip(shape, _MOST_EDGED, strict=True)) else 0.0
        axes.spines["left"].set_position(("outward", 3))
        axes.pcolormesh(*edges, np.ma.masked_where(~exists, np.zeros(shape)), cmap="gray_r", vmin=0, vmax=1)
        axes.pcolormesh(*edges, cells, cmap=over, norm=SCALE, edgecolors=EDGE, linewidth=line)
        cell = 0.42 * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
        mark_faulty(axes, [cell + place for place in np.column_stack((columns, rows))], shown.times)
        axes.invert_yaxis()
        axes.set_title("\n".join(textwrap.wrap(shown.title, 48 if across > 1 else 90)), fontsize=8, fontweight="normal")
        _name_columns(axes, names, single=single)
        if single:
            axes.set_yticks([0, 1], ["into it", "out of it"])
        else:
            step = -(-len(switches) // _MOST_LINES)
            axes.set_yticks(range(0, len(switches), step), [str(switch) for switch in switches[::step]])
            axes.set_ylabel("switch")
        words = [((int(columns[link]), int(rows[link])), text) for link, text in shown.labels.items()]
        room = TEXT[0] * shape[1] / (7.0 if single else 3.9), TEXT[1] * shape[0] / max(0.4, high - 0.8)
        write_labels(axes, words, room, above=max(room) > 1)
    return figure


def _name_columns(axes: Axes, names: Sequence[str], *, single: bool) -> None:
    """Name the columns: numbers of ports, their kinds in a second line; a single switch has nodes alone."""
    numbers = [name.rsplit(" ", 1)[1] for name in names]
    if single:
        least = -(-len(names) // _MOST_LINES)
        step = next(step for step in _STEPS if step >= least)
        axes.set_xticks(range(0, len(names), step), numbers[::step])
        axes.set_xlabel("node")
        return
    ticks, words, at = [], [], 0
    for kind, group in groupby(names, lambda name: name.rsplit(" ", 1)[0]):
        count = len(list(group))
        if at:
            axes.axvline(at - 0.5, color="0.2", linewidth=0.8)
        ticks.append(at + (count - 1) / 2)
        words.append(f"{kind}\n{f'0 to {count - 1}' if count > 1 else '0'}")
        at += count
    axes.set_xticks(ticks, words)
    axes.tick_params(axis="x", length=0, labelsize=7)
    axes.set_xlabel("port")
