"""The summary of a run: the question, the results against their limits, the disturbances."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from gasmeter.arguments.sizes import format_size
from gasmeter.catalogue import catalogue
from gasmeter.errors import GasmeterError
from gasmeter.measuring.self_overhead import self_overhead_line
from gasmeter.rows.back_pressure import WORST_HEADS, back_pressure
from gasmeter.rows.direction import compared_metric
from gasmeter.rows.jumps import jump_lines
from gasmeter.rows.links import busiest, links_title
from gasmeter.rows.record import Row, places
from gasmeter.rows.state import worst
from gasmeter.rows.table import format_interval, format_value, is_speed_ratio
from gasmeter.rows.verified import Verified
from gasmeter.stores.builds import build_text, builds_of
from gasmeter.stores.moved import MOVED_HEADS, moved_lines
from gasmeter.stores.result import Result
from gasmeter.sweeps.experiment import Experiment
from gasmeter.sweeps.names import options_text
from gasmeter.sweeps.series import Series, Target
from gasmeter.sweeps.sweep import plan_series
from gasmeter.units import format_quantity

__all__ = [
    "SPEED_HEADS",
    "SpeedLine",
    "digest",
    "links_section",
    "markdown_table",
    "speed_heads",
    "speed_lines",
    "speed_table",
    "summarise_run",
    "verdict",
]

SpeedLine = tuple[str, ...]
"""Cells below `speed_heads`; the verdict comes last."""
_FEW = 4
_SOMETIMES = ("machine", "topology", "placement", "apart")
_WHAT = ("kernel", "op", "conduit", *_SOMETIMES, "ranks", "size")
SPEED_HEADS = ("line", "median", "95 % interval", "limit", "reached")
_LONG_SPEED_HEADS = ("line", "median", "95 % interval", "P99", "semantics", "limit", "reached")


def speed_heads(*, every: bool = False) -> tuple[str, ...]:
    """Return the column heads of `speed_lines`."""
    return _LONG_SPEED_HEADS if every else SPEED_HEADS


def speed_lines(experiment: Experiment, result: Result, *, every: bool = False) -> list[SpeedLine]:
    """Return a line for each comparison with a target: line, value, interval, limit and yes, no or undecided.

    ``undecided`` means that the limit lies inside the interval. `every` adds the 99th percentile and the meaning of
    "done".
    """
    lines: list[SpeedLine] = []
    for series in experiment.series:
        if series.target is not None:
            rows = _compared(series, result)
            named = len({row["conduit"] for row in rows}) > 1
            lines.extend(_line(series.target, row, named=named, every=every) for row in rows)
    return lines


def _compared(series: Series, result: Result) -> list[Row]:
    """Return one series' comparison rows, in a full or a quick run; without a reference, its main metric's."""
    ratio = series.compare in {"ratio", "both"}
    metric = series.target.metric if series.target is not None else None
    name = _reference_name(series) if metric is None else ""
    sizes = {0, *(series.size or ()), *(series.quickened().size or ())}
    options = _options_of(series)
    return [
        row
        for row in result.rows
        if row["kernel"] == series.kernel
        and row["reference"] == name
        and ((row["metric"] == "overhead") == ratio if name else row["metric"] == (metric or _main_metric(row)))
        and row["conduit"] in series.conduit
        and _among(row["op"], series.op)
        and _among(row["variant"], series.variant)
        and (series.size is None or row["size_bytes"] in sizes)
        and row["options"] in options
    ]


def _options_of(series: Series) -> set[str]:
    """Return the column ``options`` of a series' rows without its reference, in a full or a quick run."""
    groups = [group for chosen in (series, series.quickened()) for group in plan_series(chosen)]
    points = [point for group in groups for place, point in enumerate(group.points) if place != group.reference]
    return {
        options_text(point.options, modelled=modelled)
        for point in points
        for modelled in {False, point.declared_conduit.virtual}
    }


def _among(name: str, chosen: tuple[str, ...]) -> bool:
    return not chosen or chosen == ("all",) or name in chosen


def _main_metric(row: Row) -> str:
    try:
        return catalogue().kernel(str(row["kernel"])).op(str(row["op"])).metrics[0].name
    except GasmeterError:
        return ""


def _reference_name(series: Series) -> str:
    try:
        return plan_series(series)[0].reference_name
    except GasmeterError:
        return ""


def _line(target: Target, row: Row, *, named: bool, every: bool) -> SpeedLine:
    shift, unit = (1.0, "") if row["metric"] == "overhead" else (0.0, row["unit"])
    value, low, high, p99 = (row[name] + shift for name in ("value", "ci_low", "ci_high", "p99"))
    detail = " ".join(
        text
        for text in (
            row["op"],
            row["variant"],
            f"on {row['conduit']}" if named else "",
            format_size(row["size_bytes"]) if row["size_bytes"] else "",
            row["options"].replace(";", " "),
        )
        if text
    )
    bound = target.at_most if target.at_most is not None else target.at_least
    sign = "≤" if target.at_most is not None else "≥"
    limit = "-" if bound is None else f"{sign} {_figure(bound, unit, row['metric'])}"
    shown, least, most = (_figure(number, unit, row["metric"]) for number in (value, low, high))
    interval = f"{least} … {most}" if math.isfinite(low) else "-"
    reached = verdict(target, value, low, high, exact=row["kind"] == "modelled")
    long = (_figure(p99, unit, row["metric"]), row["semantics"]) if every else ()
    return (f"{target.line} ({detail})", shown, interval, *long, limit, reached)


def _figure(value: float, unit: str, metric: str) -> str:
    if not math.isfinite(value):
        return "-"
    return format_quantity(value, unit, metric) if unit else f"{value:.3g}"


def verdict(target: Target, value: float, low: float, high: float, *, exact: bool = False) -> str:
    """Tell whether a value reaches its bounds: ``yes``, ``no``, ``undecided``, or ``-`` without value or bound.

    The whole 95 % interval must agree, unless `exact` (virtual time repeats itself and needs no interval).
    """
    if not math.isfinite(value) or (target.at_most is None and target.at_least is None):
        return "-"
    at_most = target.at_most if target.at_most is not None else math.inf
    at_least = target.at_least if target.at_least is not None else -math.inf
    if not (math.isfinite(low) and math.isfinite(high)):
        if not exact:
            return "undecided"
        low = high = value
    if low > at_most or high < at_least:
        return "no"
    return "yes" if high <= at_most and low >= at_least else "undecided"


def markdown_table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table that ends in a newline; bars inside cells are escaped."""
    rows = [heads, ["---"] * len(heads), *lines]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in rows)


def speed_table(experiment: Experiment, result: Result) -> str:
    """Return the Markdown table of comparisons against their limits; empty if no series has a target."""
    lines = speed_lines(experiment, result)
    return markdown_table(SPEED_HEADS, lines) if lines else ""


def _telling(rows: Sequence[Row]) -> dict[str, set[str]]:
    """Return by kernel the options that differ among its rows; without them rows look alike."""
    given: dict[str, list[set[str]]] = {}
    for row in rows:
        given.setdefault(row["kernel"], []).append(set(filter(None, row["options"].split(";"))))
    return {kernel: each[0].union(*each) - each[0].intersection(*each) for kernel, each in given.items()}


def _identity(row: Row, place: Mapping[str, str], telling: Mapping[str, set[str]]) -> list[str]:
    named = dict.fromkeys(text for text in (row["op"], row["variant"]) if text not in {"", row["kernel"]})
    return [
        row["kernel"],
        " ".join([*named, *(each for each in row["options"].split(";") if each in telling[row["kernel"]])]),
        *place.values(),
        f"{row['ranks']}{' (share cores)' if row['oversubscribed'] else ''}",
        format_size(row["size_bytes"]) if row["size_bytes"] else "-",
    ]


def _median(row: Row) -> str:
    if row["verified"] is Verified.FALSE:
        return "NOT VERIFIED"
    return format_value(row)


def _rows_table(rows: Sequence[Row]) -> str:
    heads = (*_WHAT, "metric", "median", "95 % interval", "blocks", "state")
    lines = []
    telling = _telling(rows)
    for row, place in zip(rows, places(rows), strict=True):
        name = compared_metric(row) if is_speed_ratio(row) else row["metric"]
        metric = f"{name}{' over ' + row['reference'] if row['reference'] else ''}"
        what = _identity(row, place, telling)
        lines.append([*what, metric, _median(row), format_interval(row), str(row["n"]), row["state"]])
    return markdown_table(*_filled(heads, lines))


def _filled(heads: Sequence[str], lines: list[list[str]]) -> tuple[tuple[str, ...], list[list[str]]]:
    """Return a table without those columns of `_SOMETIMES` that are empty."""
    kept = [i for i, head in enumerate(heads) if head not in _SOMETIMES or any(line[i] for line in lines)]
    return tuple(heads[i] for i in kept), [[line[i] for i in kept] for line in lines]


def digest(result: Result, *, every: bool = False) -> tuple[tuple[str, ...], list[list[str]]]:
    """Return heads and cells of a short table: each point's main metric and overhead, a few sizes of each operation.

    An operation is followed by the options that not all rows of its kernel share: ``exchange algorithm=bruck``. Sizes
    that were added to look for jumps are not among the few: they lie close together, and lines of their own say where
    curves jump.

    `every` adds the 99th percentile of the point's own value and the meaning of "done".
    """
    over = "overhead, or x as fast" if any(map(is_speed_ratio, result.rows)) else "overhead"
    long = ("P99",) if every else ()
    last = ("state", "semantics") if every else ("state",)
    heads = (*_WHAT, "metric", "median", *long, over, "95 % interval", "over", *last)
    sizes: dict[tuple[str, str], list[int]] = {}
    for row in result.rows:
        if row["run_id"] not in result.added:
            sizes.setdefault((row["kernel"], row["op"]), []).append(row["size_bytes"])
    telling, stood = _telling(result.rows), {}
    for row, place in zip(result.rows, places(result.rows), strict=True):
        stood[row["run_id"]] = place
    lines: list[list[str]] = []
    for record in result.records:  # a point that several groups measured stands once for each, with its own value
        mains: dict[str, Row] = {}
        for row in record.rows:
            if not row["reference"] and row["size_bytes"] in _few(sizes.get((row["kernel"], row["op"]), ())):
                mains.setdefault(row["run_id"], row)
        for point, row in mains.items():
            start = [*_identity(row, stood[point], telling), row["metric"], _median(row)]
            start += [format_value(row, "p99") if row["verified"] is not Verified.FALSE else ""] if every else []
            ends = [row["semantics"]] if every else []
            compared = [entry for entry in record.rows if entry["run_id"] == point and entry["metric"] == "overhead"]
            for entry in compared:
                state = worst([row["state"], entry["state"]])
                lines.append([*start, _median(entry), format_interval(entry), entry["reference"], state, *ends])
            if not compared:
                lines.append([*start, "", "", "", row["state"], *ends])
    return _filled(heads, lines)


def _few(sizes: Sequence[int]) -> set[int]:
    """Return the smallest, the largest and two between them."""
    ordered = sorted(set(sizes))
    if len(ordered) <= _FEW:
        return set(ordered)
    return {ordered[round(index * (len(ordered) - 1) / (_FEW - 1))] for index in range(_FEW)}


def links_section(result: Result) -> tuple[str, list[list[str]], str] | None:
    """Return title, cells below `WORST_HEADS` and a sentence for the point with the busiest links, or None."""
    tables = result.link_tables()
    if not tables:
        return None
    table = busiest(tables)
    pressure = back_pressure(table)
    return f"{links_title(table)}, last block.", pressure.lines(), pressure.sentence()


def summarise_run(experiment: Experiment, result: Result) -> str:
    """Return summary.md: title, question, limits, rows and their disturbances."""
    parts = [f"# {experiment.title or experiment.name}\n"]
    if experiment.question:
        parts.append(f"{experiment.question}\n")
    if not result.complete:
        parts.append("**The run was ended early and is not complete; `--resume` continues it.**\n")
    if table := speed_table(experiment, result):
        parts.append(
            "## Results against limits\n\nRatio of paired blocks, or their difference in rows with a unit.\n\n" + table
        )
    if moves := moved_lines(result):
        parts.append(
            "## Effects of what-ifs\n\nEach what-if against the unchanged machine, the largest effect first.\n\n"
            + markdown_table(MOVED_HEADS, moves)
        )
    if jumps := jump_lines(result.bisected):
        parts.append("## Jumps\n\n" + "".join(f"- {line}\n" for line in jumps))
    if result.rows:
        parts.append(f"## In short\n\n{markdown_table(*digest(result))}\n{result.disturbance()}\n")
        if overhead_line := self_overhead_line(result.records, result.runs):
            parts.append(f"{overhead_line}\n")
        parts.append(f"## Rows\n\n{_rows_table(result.rows)}")
    if waited := links_section(result):
        title, worst_links, sentence = waited
        table = markdown_table(WORST_HEADS, worst_links) if worst_links else ""
        parts.append(f"## Links\n\n{title}\n\n{table}\n{sentence}\n")
    for title, lines in (("Not verified", result.errors), ("Notes", result.notes)):
        if lines:
            parts.append(f"## {title}\n\n" + "".join(f"- {line}\n" for line in lines))
    if builds := builds_of(result.records):
        parts.append("## Measured by\n\n" + "".join(f"- gasmeter, {build_text(build)}\n" for build in builds))
    return "\n".join(parts)
