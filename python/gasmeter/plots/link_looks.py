"""What maps of links share: shares as colours, what a map shows of each link, labels of those that wait longest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, ListedColormap, Normalize
from matplotlib.patheffects import withStroke

from gasmeter.rows.back_pressure import BackPressure
from gasmeter.units import format_quantity

__all__ = ["EDGE", "SCALE", "TEXT", "LinkMap", "Points", "Shares", "colours", "maps_of", "write_labels"]

EDGE = "0.55"
SCALE = Normalize(0, 1)
TEXT = (0.42, 0.1)
"""Inches that a label takes."""
_LABELLED = 10

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
    """

    title: str
    shares: Shares
    labels: dict[int, str]


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
    maps = [LinkMap("busy: share of the time", np.ma.masked_where(idle, found.busy), {})]
    if found.blocked.any():
        worst = [link for link in found.worst(_LABELLED) if found.wait_ns[link]]
        named = {link: format_quantity(float(found.wait_ns[link]), "ns") for link in worst}
        title = "blocked: share of packets that found no free buffer"
        maps.append(LinkMap(title, np.ma.masked_where(idle, found.share), named))
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
