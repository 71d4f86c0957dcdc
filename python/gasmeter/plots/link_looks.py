"""Common parts of link maps: colours of shares, values of each link, labels, marks of dead and slow links."""

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
"""Width and height of a label in inches."""
_LABELLED = 10
_DEAD: dict[str, Any] = {"edgecolor": "0.15", "linewidth": 0.6, "linestyle": (0, (2, 1.2))}
_CROSS: dict[str, Any] = {"marker": "x", "markersize": 4.5, "markeredgewidth": 0.9, "color": "0.15", "linestyle": ""}
_SLOW: dict[str, Any] = {"edgecolor": "#0072B2", "linewidth": 1.3}

Points = npt.NDArray[np.float64]
Shares = np.ma.MaskedArray[Any, np.dtype[np.float64]]
"""A share for each link; masked without packets."""


@dataclass(frozen=True)
class LinkMap:
    """Values of each link in one map, in the order of its table."""

    title: str  # above it
    shares: Shares  # share of each link, which its colour shows
    labels: dict[int, str]  # text at a few links
    times: npt.NDArray[np.float64]  # factor on the time of bytes


def maps_of(pressure: BackPressure) -> list[LinkMap]:
    """Return the maps of a table of links: their load and, where packets were blocked, how many of them.

    The longest waits stand at the worst links.
    """
    idle = pressure.packets == 0
    maps = [LinkMap("busy: share of the time", np.ma.masked_where(idle, pressure.busy), {}, pressure.times)]
    if pressure.blocked.any():
        worst = [link for link in pressure.worst(_LABELLED) if pressure.wait_ns[link]]
        named = {link: format_quantity(float(pressure.wait_ns[link]), "ns") for link in worst}
        title = "blocked: share of packets that found no free buffer"
        maps.append(LinkMap(title, np.ma.masked_where(idle, pressure.share), named, pressure.times))
    return maps


def colours() -> Colormap:
    """Return a colour map of shares from white (none) to dark (all), of even lightness, readable in grey."""
    whole = ListedColormap(mpl.colormaps["magma_r"](np.linspace(0.04, 0.94, 256)), name="busy")
    return whole.with_extremes(bad="white")


def mark_faulty(axes: Axes, outlines: Sequence[Points], times: npt.NDArray[np.float64]) -> None:
    """Cross dead links and frame slow ones; `times` is the factor on the time of bytes, infinite for dead links."""
    dead = [outline for outline, each in zip(outlines, times, strict=True) if np.isinf(each)]
    slow = [outline for outline, each in zip(outlines, times, strict=True) if 1 < each < np.inf]
    for links, look, name in ((dead, _DEAD, "dead"), (slow, _SLOW, "slow")):
        if links:
            axes.add_collection(PolyCollection(links, facecolors="none", label=name, zorder=3, **look))
    if dead:
        middles = np.array([outline.mean(axis=0) for outline in dead])
        axes.plot(middles[:, 0], middles[:, 1], zorder=4, scalex=False, scaley=False, **_CROSS)


def marks_of(times: npt.NDArray[np.float64]) -> dict[str, Any]:
    """Return the key of marked links: matplotlib handles by meaning; empty if no link is marked."""
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
    """Write texts at links, the most important first, without those that would cover an earlier one.

    `room` is the width and height of a text in units of the axes. With `above` texts stand above their links, which
    they would hide otherwise.
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
