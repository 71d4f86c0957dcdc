"""Figures: latency with overhead, bandwidth, Gups. Drawn from rows, saved as SVG and PNG."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from gasmeter.errors import UsageError, unknown
from gasmeter.experiment import Plot
from gasmeter.plots.bandwidth import draw_bandwidth
from gasmeter.plots.gups import draw_gups
from gasmeter.plots.latency import draw_latency
from gasmeter.plots.style import Chart, Drawing, styled

if TYPE_CHECKING:
    from gasmeter.result import Result

__all__ = ["KINDS", "draw", "save_all"]

KINDS: dict[str, tuple[tuple[str, ...], Callable[[Chart], Drawing]]] = {
    "latency": (("latency", "round_trip"), draw_latency),
    "bandwidth": (("bandwidth",), draw_bandwidth),
    "gups": (("gups",), draw_gups),
}
"""Metrics that each kind of plot shows, and what draws it."""


def draw(result: Result, kind: str | None = None) -> Drawing:
    """Draw the rows of a result.

    Parameters
    ----------
    result : Result
        What was measured.
    kind : str, optional
        One of `KINDS`; by default the first plot of the experiment, or the first kind the rows can show.

    Returns
    -------
    matplotlib.figure.Figure
        Not attached to any window.

    Raises
    ------
    UsageError
        If there is no such kind, or nothing to show of it.
    """
    if kind is not None and kind not in KINDS:
        raise unknown("plot", kind, KINDS, "help(gasmeter.Result.plot)")
    wanted = [plot for plot in _plots(result) if kind in {None, plot.kind}]
    chart = _chart(result, wanted[0]) if wanted else None
    if chart is None:
        shown = ", ".join(sorted(set(result.frame()["metric"]))) or "no metric"
        raise UsageError(
            f"nothing to draw{f' as {kind}' if kind else ''}: the rows hold {shown}; allowed: {', '.join(KINDS)}"
        )
    with styled():
        return KINDS[wanted[0].kind][1](chart)


def save_all(result: Result, folder: Path) -> list[Path]:
    """Draw and save every plot of a result.

    Parameters
    ----------
    result : Result
        What was measured.
    folder : Path
        Created if there is something to draw.

    Returns
    -------
    list of Path
        SVG and PNG files.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    written: list[Path] = []
    for plot in _plots(result):
        chart = _chart(result, plot)
        if chart is None:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        with styled():
            figure = KINDS[plot.kind][1](chart)
            for ending in ("svg", "png"):
                path = folder / f"{plot.name or plot.kind}.{ending}"
                figure.savefig(path, metadata={"Date": None} if ending == "svg" else None)
                written.append(path)
    return written


def _plots(result: Result) -> list[Plot]:
    if result.plots:
        return list(result.plots)
    metrics = set(result.frame()["metric"])
    return [Plot(kind=kind) for kind, (shown, _) in KINDS.items() if metrics & set(shown)]  # type: ignore[arg-type]


def _chart(result: Result, plot: Plot) -> Chart | None:
    """Rows of a plot, or None if there are none that verified."""
    frame = result.frame()
    frame = frame[frame["verified"]]
    for column in ("op", "conduit"):
        if chosen := getattr(plot, column):
            frame = frame[frame[column].isin(chosen)]
    metrics = (plot.metric,) if plot.metric else KINDS[plot.kind][0]
    values = frame[frame["metric"].isin(metrics) & (frame["reference"] == "") & frame["value"].notna()]
    if values.empty:
        return None
    overhead = frame[(frame["metric"] == "overhead") & frame["value"].notna() & frame["run_id"].isin(values["run_id"])]
    used = pd.concat([values, overhead])
    return Chart(values, overhead, plot.title or result.title, result.disturbance(used))
