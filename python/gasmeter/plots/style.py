"""Common parts of figures: style sheet, axes of sizes and times, bands, legend, title, the line underneath."""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.offsetbox import TextArea, VPacker
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

from gasmeter.plots.looks import KEYS, Look, Looks
from gasmeter.rows.pictures import embedded
from gasmeter.rows.state import GOOD
from gasmeter.units import format_bytes, format_quantity, scale_of

__all__ = [
    "Chart",
    "Drawing",
    "cross_out",
    "error_axis",
    "finish",
    "head_and_foot",
    "plain_log_labels",
    "plot_lines",
    "quantity_axis",
    "size_axis",
    "styled",
    "subtitle",
]

_LETTERS_PER_INCH = 17
_HANDLE_LETTERS = 6  # room of the line in front of a label
_LEGEND_ROWS = 4  # rows of legend that the figure has room for
_ROW_INCHES = 0.18
_SUBTITLE_SIZE, _SMALL_LETTERS_PER_INCH, _MOST_LINES = 7.5, 15.5, 2
_DOT = " \N{MIDDLE DOT} "
_FEW_DECADES = 2000.0
_ONE_DECADE = 15.0
_LARGE_ERROR = 300.0  # per cent
_SHORT_BELOW = 1  # decades below 1 within one unit: 0.2 is as short as 200
_SHEET = Path(__file__).resolve().parent / "style.mplstyle"


class Drawing(Figure):
    """A figure that shows itself in a notebook without plotting state and knows its rows."""

    facts: Mapping[str, object] = MappingProxyType({})
    """Result of `gasmeter.rows.pictures.picture_facts`."""

    def _repr_png_(self) -> bytes:
        return self.rendered("png", dpi=110)

    def rendered(self, ending: str, dpi: int | None = None) -> bytes:
        """Return the picture with its metadata as a file; the same picture gives the same bytes.

        `dpi` is for a PNG and defaults to the style's.
        """
        buffer = io.BytesIO()
        with styled():
            metadata = {"Date": None} if ending == "svg" else None
            self.savefig(buffer, format=ending, dpi=dpi or mpl.rcParams["savefig.dpi"], metadata=metadata)
        return embedded(buffer.getvalue(), ending, self.facts)


@dataclass(frozen=True)
class Chart:
    """Content of a figure."""

    values: pd.DataFrame  # rows of the drawn quantity
    overhead: pd.DataFrame  # rows of its overhead, if any
    title: str  # above it
    disturbance: str  # line underneath
    constants: tuple[str, ...] = ()  # facts that all rows share, for the line below the title
    # Metadata of the picture about its rows (`gasmeter.rows.pictures`)
    facts: Mapping[str, object] = field(default_factory=dict)


@contextmanager
def styled() -> Iterator[None]:
    """Draw with the package's style sheet, on the Agg canvas, whatever the caller's settings."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(mpl.rc_params_from_file(_SHEET, use_default_template=False))
        yield


def plot_lines(
    axes: Axes, frame: pd.DataFrame, looks: Looks, x: str, *, keys: Sequence[str], shift: float = 0.0
) -> list[tuple[Look, Line2D]]:
    """Draw medians as lines with markers and intervals as bands; return the lines for the legend.

    `x` is the numeric column of the horizontal axis, `keys` are the columns that make a line, `shift` is added to
    values.
    """
    drawn = []
    # References come last, so that they can share the colour of their partners.
    groups = sorted(
        frame.groupby(list(keys), sort=False), key=lambda item: item[1]["conduit"].iloc[0] in looks.references
    )
    for _, rows in groups:
        ordered = rows.sort_values(x)
        look = looks.look({name: ordered[name].iloc[0] for name in (*KEYS, "kind")})
        across, up = ordered[x].to_numpy(float), ordered["value"].to_numpy(float) + shift
        (line,) = axes.plot(across, up, **look.line, zorder=3 if look.thin else 4)
        low, high = (ordered[name].to_numpy(float) + shift for name in ("ci_low", "ci_high"))
        finite = np.isfinite(low) & np.isfinite(high)
        if finite.sum() > 1:
            axes.fill_between(
                across, np.where(finite, low, up), np.where(finite, high, up), color=look.colour, alpha=0.18, lw=0
            )
        elif finite.any():
            axes.vlines(across[finite], low[finite], high[finite], color=look.colour, lw=1.2)
        shared = ordered["oversubscribed"].to_numpy(bool)
        if shared.any():
            hollow = {**look.line, "linestyle": "none", "markerfacecolor": "white"}
            axes.plot(across[shared], up[shared], **hollow, zorder=5)
        cross_out(axes, across, up, ordered["state"])
        drawn.append((look, line))
    return drawn


def cross_out(axes: Axes, across: npt.ArrayLike, up: npt.ArrayLike, states: Iterable[str]) -> None:
    """Cross out points of rows whose state is known and not good."""
    bad = np.array([state not in {"", GOOD} for state in states])
    if bad.any():
        places = np.asarray(across)[bad], np.asarray(up)[bad]
        axes.plot(*places, linestyle="none", marker="x", color="0.15", markersize=7.0, zorder=6)


def size_axis(axes: Axes, frame: pd.DataFrame) -> pd.DataFrame:
    """Make the horizontal axis one of sizes; return the frame with log2 of the size in column ``x``.

    Operations without a size stand left of the smallest.
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


def plain_log_labels(axis: Axis, text: Callable[[float], str]) -> None:
    """Label a logarithmic axis with plain numbers, also between decades if there are few."""
    low, high = axis.get_view_interval()
    between = {2, 5} if high / low < _FEW_DECADES else set()
    if high / low < _ONE_DECADE:
        between = {2, 3, 4, 5, 6, 7, 8, 9} if high / low < _ONE_DECADE / 3 else {2, 3, 4, 5, 6, 8}

    def minor(value: float, _: int) -> str:
        leading = round(value / 10 ** math.floor(math.log10(value) + 1e-9))
        return text(value) if leading in between else ""

    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
    axis.set_minor_formatter(FuncFormatter(minor))
    axis.grid(True, which="minor", linewidth=0.3)


def quantity_axis(axis: Axis, label: str, unit: str) -> None:
    """Label an axis in the units of tables: one unit for all, or each tick's own if it spans several.

    All values are drawn already, in the unit of the rows.
    """
    low, high = axis.get_view_interval()
    logarithmic = axis.get_scale() == "log"
    factor, name = scale_of(high, unit)
    per_tick = not logarithmic or factor == scale_of(low, unit)[0] or low >= factor / 10**_SHORT_BELOW

    def text(value: float) -> str:
        return f"{value / factor:.6g}" if per_tick else format_quantity(value, unit)

    if logarithmic:
        plain_log_labels(axis, text)
    else:
        axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
    axis.set_label_text(f"{label} ({name})" if per_tick and name else label)


def error_axis(axes: Axes, label: str) -> None:
    """Make the vertical axis one of errors in per cent around 0, logarithmic far from it.

    All errors are drawn already.
    """
    low, high = axes.get_ylim()
    if max(abs(low), abs(high)) > _LARGE_ERROR:
        axes.set_yscale("symlog", linthresh=100.0)
        low, high = (1.5 * end if abs(end) > _LARGE_ERROR else end for end in (low, high))  # room for a marker
    axes.axhline(0, color="0.3", linewidth=0.8, zorder=2)
    axes.set_ylim(min(low, -5.0), max(high, 5.0))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:+.0f}" if value else "0"))
    axes.set_ylabel(label)


def finish(figure: Figure, chart: Chart, drawn: Sequence[tuple[Look, Line2D]]) -> None:
    """Add title, legend and the line about kind and disturbances to a figure with constrained layout."""
    inches = figure.get_size_inches()[0]
    ordered = sorted(drawn, key=lambda item: (item[0].track, item[0].thin))
    columns = min(4, max(1, math.ceil(len(ordered) / 2))) if len(ordered) > 3 else len(ordered)
    longest = max((len(look.label) for look, _ in ordered), default=0)
    columns = max(1, min(columns, int(inches * _LETTERS_PER_INCH / (longest + _HANDLE_LETTERS))))
    below = subtitle(chart.constants, inches)
    more = math.ceil(len(ordered) / columns) - _LEGEND_ROWS if ordered else 0
    more = max(0, more) + len(below.splitlines())
    figure.set_figheight(figure.get_figheight() + _ROW_INCHES * more)  # otherwise the legend would cover the axes
    several = len(ordered) > 1 or not below  # a single line needs no legend: the subtitle identifies it
    figure.legend(
        [line for _, line in ordered] if several else [], [look.label for look, _ in ordered] if several else [],
        loc="outside upper left", ncols=columns, borderaxespad=0.2, columnspacing=1.4, alignment="left",
        title=_head(figure, chart), title_fontproperties={"size": 10, "weight": "bold"},
    )  # fmt: skip
    _put_subtitle(figure, below)
    _foot(figure, chart)


def head_and_foot(figure: Figure, chart: Chart) -> None:
    """Add title and the line about kind and disturbances to a figure without a legend."""
    finish(figure, chart, [])


def subtitle(constants: Sequence[str], inches: float) -> str:
    """Return the line below a title, at most two lines, in whole parts and with an ellipsis if some are missing.

    `inches` is the width of the figure.
    """
    room, lines = int(inches * _SMALL_LETTERS_PER_INCH), [""]
    for part in constants:
        longer = f"{lines[-1]}{_DOT}{part}" if lines[-1] else part
        if len(longer) > room and lines[-1]:
            if len(lines) == _MOST_LINES:
                lines[-1] = f"{lines[-1]}{_DOT}\N{HORIZONTAL ELLIPSIS}"
                break
            lines.append(part)
        else:
            lines[-1] = longer
    return "\n".join(lines)


def _put_subtitle(figure: Figure, text: str) -> None:
    """Put a line between the title and the entries of the legend, which move down for it."""
    if not text:
        return
    box = figure.legends[0].get_children()[0]
    area = TextArea(text, textprops={"size": _SUBTITLE_SIZE, "color": "0.3", "linespacing": 1.25})
    area.set_figure(figure)
    assert isinstance(box, VPacker)
    box.get_children().insert(1, area)


def _head(figure: Figure, chart: Chart) -> str:
    return "\n".join(textwrap.wrap(chart.title, int(figure.get_size_inches()[0] * 12)))


def _foot(figure: Figure, chart: Chart) -> None:
    inches = figure.get_size_inches()[0]
    text = "\n".join(textwrap.wrap(chart.disturbance, int(inches * 17)))
    figure.supxlabel(text, fontsize=7, color="0.35", x=0.01, ha="left")
