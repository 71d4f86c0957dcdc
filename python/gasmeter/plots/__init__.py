"""Figures: latency with overhead, bandwidth, Gups from rows, maps of links from their tables; saved as SVG and PNG."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from gasmeter.errors import UsageError, unknown
from gasmeter.plots.bandwidth import draw_bandwidth
from gasmeter.plots.comparisons import told_apart
from gasmeter.plots.constants import constants
from gasmeter.plots.crossover import draw_crossover
from gasmeter.plots.gups import draw_gups
from gasmeter.plots.latency import draw_latency
from gasmeter.plots.links import draw_links
from gasmeter.plots.style import Chart, Drawing, styled
from gasmeter.rows.direction import compared_metric
from gasmeter.rows.links import busiest
from gasmeter.rows.pictures import picture_facts
from gasmeter.rows.tidy import Tidy
from gasmeter.sweeps.series import Plot

__all__ = ["KINDS", "LINKS", "draw", "draw_point_links", "save_all"]

LINKS = "links"
"""Kind of plot that shows the links of one point instead of rows."""

KINDS: dict[str, tuple[tuple[str, ...], Callable[[Chart], Drawing]]] = {
    "latency": (("latency", "round_trip"), draw_latency),
    "bandwidth": (("bandwidth",), draw_bandwidth),
    "gups": (("gups",), draw_gups),
    "crossover": (("bandwidth",), draw_crossover),
}
"""Metrics and drawing function of each kind of plot of rows."""
_FILTERS = ("op", "conduit", "machine", "topology")


def draw(result: Tidy, kind: str | None = None) -> Drawing:
    """Draw the rows of a result as a figure without a window.

    `kind` defaults to the experiment's first plot, or the first kind that the rows can show. Raises UsageError for an
    unknown kind, or rows that do not suit it.
    """
    if kind is not None and kind not in {*KINDS, LINKS}:
        raise unknown("plot", kind, [*KINDS, LINKS], "help(gasmeter.Result.plot)")
    for plot in _plots(result):
        if kind in {None, plot.kind} and (figure := _figure(result, plot)) is not None:
            return figure
    if kind == LINKS:
        return draw_point_links(result)
    shown = ", ".join(sorted(set(result.frame()["metric"]))) or "no metric"
    raise UsageError(
        f"nothing to draw{f' as {kind}' if kind else ''}: the rows hold {shown}; allowed: {', '.join(KINDS)}"
    )


def draw_point_links(result: Tidy, run_id: str | None = None, title: str = "") -> Drawing:
    """Draw the load of each link during the last block of one point, as a figure without a window.

    The point defaults to the one with the busiest links. Raises UsageError if it does not exist, or no point has links.
    """
    tables = {table["run_id"]: table for table in result.link_tables()}
    if not tables:
        raise UsageError(
            f"nothing to draw as {LINKS}: no point ran on a modelled network with links; allowed: results of conduits"
            " whose machine has a topology (see `gasmeter list machines`)"
        )
    if run_id is not None and run_id not in tables:
        raise unknown("point with links", run_id, tables, "help(gasmeter.Result.links)")
    with styled():
        return _links(result, tables[run_id] if run_id is not None else busiest(list(tables.values())), title)


def save_all(result: Tidy, folder: Path) -> list[Path]:
    """Draw every plot of a result and save it as SVG and PNG; raise OSError if the folder cannot be written."""
    written: list[Path] = []
    for plot in _plots(result):
        figure = _figure(result, plot)
        if figure is None:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        with styled():
            for ending in ("svg", "png"):
                path = folder / f"{plot.name or plot.kind}.{ending}"
                path.write_bytes(figure.rendered(ending))
                written.append(path)
    return written


def _plots(result: Tidy) -> list[Plot]:
    if result.plots:
        return list(result.plots)
    metrics = set(result.frame()["metric"])
    shown = [kind for kind, (shown_metrics, _) in KINDS.items() if metrics & set(shown_metrics) and kind != "crossover"]
    return [Plot(kind=kind) for kind in [*shown, *([LINKS] if result.link_tables() else [])]]  # type: ignore[arg-type]


def _figure(result: Tidy, plot: Plot) -> Drawing | None:
    """Draw a plot, or return None without data to show."""
    with styled():
        if plot.kind == LINKS:
            chosen = [table for table in result.link_tables() if _shows(plot, table)]
            return _links(result, busiest(chosen), plot.title) if chosen else None
        chart = _chart(result, plot)
        if chart is None:
            return None
        figure = KINDS[plot.kind][1](chart)
        figure.facts = chart.facts
        return figure


def _links(result: Tidy, table: Mapping[str, Any], title: str) -> Drawing:
    """Draw the links of a point, with its rows in the metadata."""
    figure = draw_links(table, title)
    rows = [row for row in result.rows if row["run_id"] == table["run_id"]]
    figure.facts = picture_facts(result.name, rows, records=result.records, runs=result.runs)
    return figure


def _shows(plot: Plot, table: Mapping[str, Any]) -> bool:
    return all(not getattr(plot, name) or table[name] in getattr(plot, name) for name in _FILTERS)


def _chart(result: Tidy, plot: Plot) -> Chart | None:
    """Return the rows of a plot, or None if all data were wrong."""
    frame = told_apart(result)
    frame = frame[frame["verified"].fillna(True)]
    for column in _FILTERS:
        if chosen := getattr(plot, column):
            frame = frame[frame[column].isin(chosen)]
    # For real ranks the column names processors, which do not make another line.
    lines = frame.assign(placement=frame["placement"].where(frame["kind"] == "modelled", ""))
    metrics = (plot.metric,) if plot.metric else KINDS[plot.kind][0]
    values = lines[lines["metric"].isin(metrics) & (lines["reference"] == "") & lines["value"].notna()]
    if values.empty:
        return None
    overhead = lines[(lines["metric"] == "overhead") & lines["value"].notna() & lines["run_id"].isin(values["run_id"])]
    # Comparisons use the first metric of an operation: a bandwidth beside a round trip has none.
    meant = {text for text in set(overhead["semantics"]) if compared_metric({"semantics": text}) in {"", *metrics}}
    overhead = overhead[overhead["semantics"].isin(meant)]
    used = pd.concat([values, overhead])
    rows = result.rows
    return Chart(
        values,
        overhead,
        plot.title or result.title,
        result.disturbance(used),
        constants(frame.loc[values.index], result.runs),
        picture_facts(
            result.name, [rows[number] for number in used.index], records=result.records, runs=result.runs
        ),
    )  # fmt: skip
