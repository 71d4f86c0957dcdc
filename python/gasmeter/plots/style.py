"""What the figures share: style sheet, axes of sizes and times, bands, legend, title, the line underneath."""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

from gasmeter.plots.looks import KEYS, Look, Looks
from gasmeter.rows.state import GOOD
from gasmeter.units import format_bytes

__all__ = [
    "Chart",
    "Drawing",
    "cross_out",
    "finish",
    "head_and_foot",
    "plain_log_labels",
    "plot_lines",
    "size_axis",
    "styled",
    "time_axis",
    "time_unit",
]

_LETTERS_PER_INCH = 17
_HANDLE_LETTERS = 6  # what the line in front of a label takes
_LEGEND_ROWS = 4  # that the figure has room for
_ROW_INCHES = 0.18
_FEW_DECADES = 200.0
_ONE_DECADE = 15.0
_SHEET = Path(__file__).resolve().parent.parent / "style.mplstyle"


class Drawing(Figure):
    """A figure that shows itself in a notebook without any plotting state."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        with styled():
            self.savefig(buffer, format="png", dpi=110)
        return buffer.getvalue()


@dataclass(frozen=True)
class Chart:
    """What a figure is made of.

    Attributes
    ----------
    values, overhead : pandas.DataFrame
        Rows of the quantity drawn, and of its overhead where there is one.
    title, disturbance : str
        The text above and the line underneath.
    """

    values: pd.DataFrame
    overhead: pd.DataFrame
    title: str
    disturbance: str


@contextmanager
def styled() -> Iterator[None]:
    """Draw with the package's style sheet, on the Agg canvas, whatever the caller's settings."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(mpl.rc_params_from_file(_SHEET, use_default_template=False))
        yield


def plot_lines(
    axes: Axes, frame: pd.DataFrame, looks: Looks, x: str, scale: float, *, keys: Sequence[str], ranks: bool = True
) -> list[tuple[Look, Line2D]]:
    """Draw medians as lines with markers and their intervals as bands.

    Parameters
    ----------
    axes : Axes
        Where.
    frame : pandas.DataFrame
        Rows with a numeric column `x`.
    looks : Looks
        Colours and markers.
    x : str
        Column of the horizontal axis.
    scale : float
        Factor from the rows' unit to the axis'.
    keys : sequence of str
        Columns that make a line.
    ranks : bool, default True
        Whether lines differ in ranks.

    Returns
    -------
    list of tuple of Look and Line2D
        For the legend.
    """
    drawn = []
    # What others are compared with comes last, so that it can share their colour.
    groups = sorted(
        frame.groupby(list(keys), sort=False), key=lambda item: item[1]["conduit"].iloc[0] in looks.references
    )
    for _, rows in groups:
        ordered = rows.sort_values(x)
        look = looks.look({name: ordered[name].iloc[0] for name in (*KEYS, "kind")}, ranks=ranks)
        across, up = ordered[x].to_numpy(float), ordered["value"].to_numpy(float) * scale
        (line,) = axes.plot(across, up, **look.line, zorder=3 if look.thin else 4)
        low, high = (ordered[name].to_numpy(float) * scale for name in ("ci_low", "ci_high"))
        known = np.isfinite(low) & np.isfinite(high)
        if known.sum() > 1:
            axes.fill_between(
                across, np.where(known, low, up), np.where(known, high, up), color=look.colour, alpha=0.18, lw=0
            )
        elif known.any():
            axes.vlines(across[known], low[known], high[known], color=look.colour, lw=1.2)
        shared = ordered["oversubscribed"].to_numpy(bool)
        if shared.any():
            hollow = {**look.line, "linestyle": "none", "markerfacecolor": "white"}
            axes.plot(across[shared], up[shared], **hollow, zorder=5)
        cross_out(axes, across, up, ordered["state"])
        drawn.append((look, line))
    return drawn


def cross_out(axes: Axes, across: npt.ArrayLike, up: npt.ArrayLike, states: Iterable[str]) -> None:
    """Mark what cannot be relied on: rows whose state is known and not good.

    Parameters
    ----------
    axes : Axes
        Where.
    across, up : array of float
        Places of the markers.
    states : iterable of str
        Column ``state`` of their rows.
    """
    bad = np.array([state not in {"", GOOD} for state in states])
    if bad.any():
        places = np.asarray(across)[bad], np.asarray(up)[bad]
        axes.plot(*places, linestyle="none", marker="x", color="0.15", markersize=7.0, zorder=6)


def size_axis(axes: Axes, frame: pd.DataFrame) -> pd.DataFrame:
    """Make the horizontal axis one of sizes, and return the frame with its column ``x``.

    Parameters
    ----------
    axes : Axes
        Where.
    frame : pandas.DataFrame
        Rows; operations without a size are placed left of the smallest.

    Returns
    -------
    pandas.DataFrame
        With the base-2 logarithm of the size in column ``x``.
    """
    sizes = sorted({int(size) for size in frame["size_bytes"] if size})
    first = math.log2(sizes[0]) if sizes else 0.0
    none = first - 1.5
    placed = frame.assign(x=[math.log2(size) if size else none for size in frame["size_bytes"]])
    marks = sorted({float(round(value)) for value in placed["x"] if value >= first})
    step = max(1, math.ceil(len(marks) / 7))
    ticks = {mark: format_bytes(2 ** round(mark)) for mark in marks[::step]}
    if (frame["size_bytes"] == 0).any():
        ticks = {none: "no\npayload", **ticks}
    axes.xaxis.set_major_locator(FixedLocator(list(ticks)))
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.xaxis.set_minor_locator(FixedLocator([mark for mark in marks if mark not in ticks]))
    axes.xaxis.set_minor_formatter(NullFormatter())
    return placed


def plain_log_labels(axes: Axes, factor: float) -> None:
    """Label a logarithmic vertical axis with plain numbers, between the decades too where there are few of them.

    Parameters
    ----------
    axes : Axes
        With a logarithmic vertical axis.
    factor : float
        What its values are divided by.
    """
    low, high = axes.get_ylim()
    between = {2, 5} if high / low < _FEW_DECADES else set()
    if high / low < _ONE_DECADE:
        between = {2, 3, 4, 5, 6, 7, 8, 9} if high / low < _ONE_DECADE / 3 else {2, 3, 4, 5, 6, 8}

    def minor(value: float, _: int) -> str:
        leading = round(value / 10 ** math.floor(math.log10(value) + 1e-9))
        return f"{value / factor:.6g}" if leading in between else ""

    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / factor:.6g}"))
    axes.yaxis.set_minor_formatter(FuncFormatter(minor))
    axes.grid(True, which="minor", axis="y", linewidth=0.3)


def time_unit(high: float) -> tuple[float, str]:
    """Return the unit that keeps times short.

    Parameters
    ----------
    high : float
        The longest, in ns.

    Returns
    -------
    tuple of float and str
        How many ns it has, and its name.
    """
    return (1.0, "ns") if high < 2e5 else ((1e3, "µs") if high < 2e8 else (1e6, "ms"))


def time_axis(axes: Axes, quantity: str) -> None:
    """Make the vertical axis a logarithmic one of times, in the unit that keeps its numbers short.

    Parameters
    ----------
    axes : Axes
        Whose values are in ns.
    quantity : str
        What they are.
    """
    factor, unit = time_unit(axes.get_ylim()[1])
    axes.set_yscale("log")
    plain_log_labels(axes, factor)
    axes.set_ylabel(f"{quantity} ({unit})")


def finish(figure: Figure, chart: Chart, drawn: Sequence[tuple[Look, Line2D]]) -> None:
    """Add title, legend and the line that says what the numbers are and what disturbed them.

    Parameters
    ----------
    figure : Figure
        Laid out with constrained layout.
    chart : Chart
        Its title and its disturbance.
    drawn : sequence of tuple of Look and Line2D
        The lines of the legend.
    """
    inches = figure.get_size_inches()[0]
    ordered = sorted(drawn, key=lambda item: (item[0].track, item[0].thin))
    columns = min(4, max(1, math.ceil(len(ordered) / 2))) if len(ordered) > 3 else len(ordered)
    longest = max((len(look.label) for look, _ in ordered), default=0)
    columns = max(1, min(columns, int(inches * _LETTERS_PER_INCH / (longest + _HANDLE_LETTERS))))
    more = math.ceil(len(ordered) / columns) - _LEGEND_ROWS if ordered else 0
    figure.set_figheight(figure.get_figheight() + _ROW_INCHES * max(0, more))  # or the legend would cover the axes
    figure.legend(
        [line for _, line in ordered], [look.label for look, _ in ordered], loc="outside upper left", ncols=columns,
        borderaxespad=0.2, columnspacing=1.4, alignment="left",
        title=_head(figure, chart), title_fontproperties={"size": 10, "weight": "bold"},
    )  # fmt: skip
    _foot(figure, chart)


def head_and_foot(figure: Figure, chart: Chart) -> None:
    """Add title and the line that says what the numbers are and what disturbed them, where no legend is needed.

    Parameters
    ----------
    figure : Figure
        Laid out with constrained layout.
    chart : Chart
        Its title and its disturbance.
    """
    figure.suptitle(_head(figure, chart), x=0.01, ha="left", size=10, weight="bold")
    _foot(figure, chart)


def _head(figure: Figure, chart: Chart) -> str:
    return "\n".join(textwrap.wrap(chart.title, int(figure.get_size_inches()[0] * 12)))


def _foot(figure: Figure, chart: Chart) -> None:
    inches = figure.get_size_inches()[0]
    text = "\n".join(textwrap.wrap(chart.disturbance, int(inches * 17)))
    figure.supxlabel(text, fontsize=7, color="0.35", x=0.01, ha="left")
