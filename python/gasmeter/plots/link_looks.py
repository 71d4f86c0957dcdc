"""What maps of links share: shares as colours, what a map shows of each link, labels, marks of dead and slow links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import Colormap, ListedColormap, Normalize
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from gasmeter.rows.back_pressure import BackPressure
from gasmeter.units import format_quantity

__all__ = [
    "EDGE", "SCALE", "TEXT", "LinkMap", "Points", "Shares", "colours", "maps_of", "mark_faulty", "marks_of",
    "write_labels",
]  # fmt: skip

EDGE = "0.55"
SCALE = Normalize(0, 1)
TEXT = (0.42, 0.1)
"""Inches that a label takes."""
_LABELLED = 10
_DEAD: dict[str, Any] = {"edgecolor": "0.15", "linewidth": 0.6, "linestyle": (0, (2, 1.2))}
_CROSS: dict[str, Any] = {"marker": "x", "markersize": 4.5, "markeredgewidth": 0.9, "color": "0.15", "linestyle": ""}
_SLOW: dict[str, Any] = {"edgecolor": "#0072B2", "linewidth": 1.3}

Points = npt.NDArray[np.float64]
Shares = np.ma.MaskedArray[Any, np.dtype[np.float64]]
"""Of each link a share; masked where nothing passed."""


@dataclass(frozen=True)
class LinkMap:
    """What one map shows of each link, in the order of its table.

    Attributes
    ----------
    title : str
        Above it.
    shares : masked array
        Its colours.
    labels : mapping of int to str
        Words at a few links.
    times : array of float
        How many times as long bytes take as they should.
    """

    title: str
    shares: Shares
    labels: dict[int, str]
    times: npt.NDArray[np.float64]


def maps_of(found: BackPressure) -> list[LinkMap]:
    """Return what is drawn of a table of links.

    Parameters
    ----------
    found : BackPressure
        Of its links.

    Returns
    -------
    list of LinkMap
        How busy each was, and where packets were blocked, how many of them, with the longest waits at the worst links.
    """
    idle = found.packets == 0
    maps = [LinkMap("busy: share of the time", np.ma.masked_where(idle, found.busy), {}, found.times)]
    if found.blocked.any():
        worst = [link for link in found.worst(_LABELLED) if found.wait_ns[link]]
        named = {link: format_quantity(float(found.wait_ns[link]), "ns") for link in worst}
        title = "blocked: share of packets that found no free buffer"
        maps.append(LinkMap(title, np.ma.masked_where(idle, found.share), named, found.times))
    return maps


def colours() -> Colormap:
    """Return colours of shares: dark is all, white is none; lightness falls evenly, so that it reads in grey too.

    Returns
    -------
    Colormap
        White where nothing passed.
    """
    whole = ListedColormap(mpl.colormaps["magma_r"](np.linspace(0.04, 0.94, 256)), name="busy")
    return whole.with_extremes(bad="white")


def mark_faulty(axes: Axes, outlines: Sequence[Points], times: npt.NDArray[np.float64]) -> None:
    """Draw over links that a dead one is crossed, and a slow one framed.

    Parameters
    ----------
    axes : Axes
        Where.
    outlines : sequence of array of float, shape (m, 2)
        Of links.
    times : array of float
        How many times as long bytes take on each as they should; infinite of dead ones.
    """
    dead = [outline for outline, each in zip(outlines, times, strict=True) if np.isinf(each)]
    slow = [outline for outline, each in zip(outlines, times, strict=True) if 1 < each < np.inf]
    for found, look, name in ((dead, _DEAD, "dead"), (slow, _SLOW, "slow")):
        if found:
            axes.add_collection(PolyCollection(found, facecolors="none", label=name, zorder=3, **look))
    if dead:
        middles = np.array([outline.mean(axis=0) for outline in dead])
        axes.plot(middles[:, 0], middles[:, 1], zorder=4, scalex=False, scaley=False, **_CROSS)


def marks_of(times: npt.NDArray[np.float64]) -> dict[str, Any]:
    """Return what a key says of the marks of links.

    Parameters
    ----------
    times : array of float
        Of all links.

    Returns
    -------
    dict of str to object
        Handles of matplotlib by what each stands for; empty where nothing is marked.
    """
    slow = times[(times > 1) & np.isfinite(times)]
    marks: dict[str, Any] = {}
    if np.isinf(times).any():
        marks["dead"] = (Patch(facecolor="white", **_DEAD), Line2D([0], [0], **_CROSS))
    if slow.size:
        span = " to ".join(f"{each:g}" for each in sorted({float(slow.min()), float(slow.max())}))
        marks[f"slow: bytes take {span} times as long"] = Patch(facecolor="white", **_SLOW)
    return marks


def write_labels(
    axes: Axes, words: Sequence[tuple[Sequence[float], str]], room: tuple[float, float], *, above: bool
) -> None:
    """Write at links how long they were waited for; what would cover an earlier one is left out.

    Parameters
    ----------
    axes : Axes
        Where.
    words : sequence of tuple
        Place of the middle and text of each, the most important first.
    room : tuple of float
        Width and height that a text takes, in units of the axes.
    above : bool
        Whether texts stand above their links, which they would hide otherwise.
    """
    taken: list[Sequence[float]] = []
    for place, text in words:
        if all(abs(place[0] - other[0]) >= room[0] or abs(place[1] - other[1]) >= room[1] for other in taken):
            taken.append(place)
            axes.annotate(
                text, (float(place[0]), float(place[1])), (0, 5 if above else 0), textcoords="offset points",
                fontsize=5.5, ha="center", va="center", color="0.1", zorder=5,
                path_effects=[withStroke(linewidth=2.2, foreground="white")],
            )  # fmt: skip
