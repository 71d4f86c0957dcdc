"""Modelled lines over published curves of hardware, with the error of each underneath."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from gasmeter.plots.looks import Look
from gasmeter.plots.palette import MARKERS, ordered
from gasmeter.plots.style import Chart, Drawing, error_axis, finish, plain_log_labels, size_axis, styled

__all__ = ["Overlay", "draw_overlay"]

_WIDTH_IN = 5.2  # as reproduced figures: a phone shows 4 inches
_HEIGHT_IN, _ERRORS_IN = 3.6, 1.7
_GREYS = ("0.1", "0.45", "0.3")


@dataclass(frozen=True)
class Overlay:
    """Content of one picture."""

    title: str  # above it
    foot: str  # line underneath
    quantity: str  # quantity of the vertical axis
    unit: str  # unit of the vertical axis
    published: Mapping[str, Mapping[int, float]]  # by label of each curve: values in that unit by bytes
    modelled: Mapping[str, Mapping[int, float]]  # by label of each line: values in that unit by bytes
    errors: Mapping[tuple[str, str], Mapping[int, float]]  # by labels of a line and a curve: per cent by bytes


def draw_overlay(shown: Overlay) -> Drawing:
    """Draw published curves as hollow markers, modelled lines in colours, and their errors in per cent below.

    Sizes and values have logarithmic axes. An error has the colour of its line and the marker of its curve.
    """
    with styled():
        height = _HEIGHT_IN + (_ERRORS_IN if shown.errors else 0.0)
        figure = Drawing(figsize=(_WIDTH_IN, height), layout="constrained")
        if shown.errors:
            upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[_HEIGHT_IN - 1.0, _ERRORS_IN])
        else:
            upper = lower = figure.subplots()
        every = sorted({size for points in (*shown.published.values(), *shown.modelled.values()) for size in points})
        frame = size_axis(upper, pd.DataFrame({"size_bytes": every}))
        places = dict(zip(every, frame["x"], strict=True))
        markers = {label: MARKERS[number % len(MARKERS)] for number, label in enumerate(shown.published)}
        colours = dict(zip(shown.modelled, ordered(len(shown.modelled)), strict=True))
        drawn = _curves(upper, shown, places, markers) + _lines(upper, shown, places, colours)
        upper.set_yscale("log")
        plain_log_labels(upper.yaxis, "{:.6g}".format)
        upper.set_ylabel(f"{shown.quantity} ({shown.unit})")
        if shown.errors:
            for (line, curve), errors in shown.errors.items():
                across = [places[size] for size in errors]
                lower.plot(
                    across, list(errors.values()), color=colours[line], marker=markers[curve],
                    markersize=3.4, linewidth=0.8,
                )  # fmt: skip
            error_axis(lower, "Modelled over\npublished (%)")
            size_axis(lower, pd.DataFrame({"size_bytes": every}))
        lower.set_xlabel("Message size")
        finish(figure, Chart(pd.DataFrame(), pd.DataFrame(), shown.title, shown.foot), drawn)
        return figure


def _curves(
    axes: Axes, shown: Overlay, places: Mapping[int, float], markers: Mapping[str, str]
) -> list[tuple[Look, Line2D]]:
    drawn = []
    for number, (label, points) in enumerate(shown.published.items()):
        grey = _GREYS[number % len(_GREYS)]
        (line,) = axes.plot(
            [places[size] for size in points], list(points.values()), color=grey, linestyle="none",
            marker=markers[label], markerfacecolor="none", markersize=5.2, zorder=5,
        )  # fmt: skip
        drawn.append((Look(f"published: {label}", grey, markers[label], number, False), line))
    return drawn


def _lines(
    axes: Axes, shown: Overlay, places: Mapping[int, float], colours: Mapping[str, str]
) -> list[tuple[Look, Line2D]]:
    drawn = []
    for number, (label, points) in enumerate(shown.modelled.items(), len(shown.published)):
        (line,) = axes.plot(
            [places[size] for size in points], list(points.values()), color=colours[label], marker=".", markersize=4.0,
            zorder=4,
        )  # fmt: skip
        drawn.append((Look(f"modelled: {label}", colours[label], ".", number, False), line))
    return drawn
