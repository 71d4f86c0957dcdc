"""Comparisons: points measured beside several things, and their ratio to their references.

A time above its reference's is an overhead in per cent; a bandwidth or rate is a factor.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from gasmeter.catalogue import declared
from gasmeter.plots.looks import BESIDE, KEYS, Looks
from gasmeter.plots.style import Chart, plot_lines, size_axis
from gasmeter.rows.direction import better, compared_metric
from gasmeter.rows.record import Row
from gasmeter.rows.tidy import Tidy

__all__ = ["comparison_label", "draw_compared", "is_speed", "log_marks", "scale_comparison", "told_apart"]

_SAME = ["run_id", "metric", "reference"]
_MOST_NAMED = 3
_LARGE = 3.0  # overhead as a ratio beyond which its axis is logarithmic
_FEW_TIMES, _MANY_TIMES = 4.0, 300.0
_SEEN = 0.02
_SIDE_LETTERS = 21  # letters of a line beside a vertical axis


def told_apart(result: Tidy) -> pd.DataFrame:
    """Return `Tidy.frame` with the number of the measuring group and the other contents of its blocks.

    Column ``beside`` is filled for lines with points measured in several groups. Virtual time that came out twice
    stands once.
    """
    frame = result.frame()
    frame["group"] = [number for number, entry in enumerate(result.records) for _ in entry.rows]
    frame[BESIDE] = [_partners(row, entry.rows) for entry in result.records for row in entry.rows]
    frame = frame.drop_duplicates([*_SAME, "value", "ci_low", "ci_high"])
    line = [key for key in KEYS if key != BESIDE]  # and rows made from them: comparisons
    # For real ranks the placement names processors, which do not make another line.
    several = (
        frame.assign(
            again=frame.duplicated(_SAME, keep=False),
            placement=frame["placement"].where(frame["kind"] == "modelled", ""),
        )
        .groupby(line)["again"]
        .transform("any")
    )
    times = frame.groupby([*_SAME, BESIDE]).cumcount()
    text = frame[BESIDE].where(times == 0, frame[BESIDE] + ", measured again")
    return frame.assign(**{BESIDE: text.where(several, "")})


def _partners(row: Row, rows: Sequence[Row]) -> str:
    """Return the other contents of a group by their differences from a row; empty without any."""
    row_options = set(row["options"].split(";"))
    others: dict[str, None] = {}
    for other in rows:
        if other["run_id"] != row["run_id"]:
            words = [other[name] for name in ("op", "variant") if other[name] != row[name]]
            options = [text for text in other["options"].split(";") if text not in row_options]
            others[" ".join(filter(None, [*words, other["conduit"], *options]))] = None
    named = list(others)[:_MOST_NAMED]
    return f"beside {', '.join(named)}{', …' if len(others) > len(named) else ''}" if named else ""


def is_speed(chart: Chart) -> bool:
    """Tell whether more is better for the compared values; a ratio of times is an overhead."""
    units = dict(zip(chart.values["metric"], chart.values["unit"], strict=True))
    metrics = {compared_metric({"semantics": text}) for text in chart.overhead["semantics"]} & set(units) or set(units)
    return all(better(metric, units[metric]) == "bigger" for metric in metrics)


def comparison_label(chart: Chart, letters: int = _SIDE_LETTERS) -> str:
    """Return the label of an axis of comparisons: an overhead of times, else how many times as fast.

    `letters` is the room on a line, in letters; the label names the references.
    """
    references = sorted(set(chart.overhead["reference"]))
    over = references[0] if len(references) == 1 else "its reference"
    if is_speed(chart):
        metrics = declared().metrics
        what = ", ".join(sorted({metrics[name].label if name in metrics else name for name in chart.values["metric"]}))
        return (
            f"{textwrap.fill(f'{what} over', letters)}\n{textwrap.fill(f'that of {over}', letters)}\nabove 1 x: faster"
        )
    faster = float(chart.overhead["value"].min()) < -_SEEN
    return f"Overhead over\n{textwrap.fill(f'{over} (%)', letters)}" + ("\nbelow 0: faster" if faster else "")


def log_marks(low: float, high: float) -> list[float]:
    """Return ticks of a logarithmic axis: 1, 2 and 5 of each decade, or decades alone if there are many."""
    leading = (1, 2, 5) if high / low < _MANY_TIMES else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [
        tick for power in powers for tick in (float(f"{digit}e{power}") for digit in leading) if low <= tick <= high
    ]


def scale_comparison(axes: Axes, axis: Axis, *, speed: bool) -> None:
    """Set the scale, ticks and reference line of an axis of comparisons.

    Speeds are ratios; times are overheads.
    """
    across = axis is axes.xaxis
    (axes.axvline if across else axes.axhline)(1.0 if speed else 0.0, color="0.3", linewidth=0.8, zorder=2)
    low, high = axis.get_view_interval()
    scale, limits = (axes.set_xscale, axes.set_xlim) if across else (axes.set_yscale, axes.set_ylim)
    if speed:
        if low > 0 and high / low > _FEW_TIMES:
            scale("log")
            axis.set_major_locator(FixedLocator(log_marks(low, high)))
            axis.set_minor_locator(NullLocator())
        else:
            limits(min(low, 1 - _SEEN), max(high, 1 + _SEEN))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.6g} x"))
        return
    if high > _LARGE:
        scale("symlog", linthresh=1.0)
    limits(min(low, -_SEEN), max(high, _SEEN))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value * 100:.0f}"))


def draw_compared(axes: Axes, chart: Chart, looks: Looks) -> None:
    """Draw the ratio of lines to their reference against size, below the lines and in their looks."""
    speed = is_speed(chart)
    plot_lines(axes, size_axis(axes, chart.overhead), looks, "x", keys=KEYS, shift=1.0 if speed else 0.0)
    size_axis(axes, chart.values)
    scale_comparison(axes, axes.yaxis, speed=speed)
    axes.set_ylabel(comparison_label(chart))
