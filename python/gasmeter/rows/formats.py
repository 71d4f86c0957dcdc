"""Rows as text: a table for people, CSV and JSON for programs, and the layout of the OSU benchmarks."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gasmeter.catalogue import declared
from gasmeter.rows.record import COLUMNS, Row, installation
from gasmeter.rows.table import rows_table
from gasmeter.rows.verified import Verified

__all__ = [
    "csv_cell",
    "csv_lines",
    "json_value",
    "render",
    "to_csv",
    "to_json",
    "to_osu",
]


def render(
    rows: Sequence[Row], form: str, *, title: str = "", footer: Sequence[str] = (), every: bool = False,
    colour: bool = False,
) -> str:  # fmt: skip
    """Return rows in one of the formats, ending in a newline; title and footer apply to tables only.

    `every` adds the 99th percentile and the meaning of "done" to a table, `colour` colours its verdicts.
    """
    if form == "csv":
        return to_csv(rows)
    if form == "json":
        return to_json(rows)
    if form == "osu":
        return to_osu(rows)
    return rows_table(rows, title, footer, every=every, colour=colour)


def csv_cell(value: object) -> str:
    """Return a CSV cell: ``true``/``false``, nothing for NaN, the shortest text that reads back as the same float."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(float(value))
    return "" if value is None else str(value)


def csv_lines(rows: Iterable[Row], columns: Sequence[str] = COLUMNS) -> str:
    """Return one CSV line per row, without a header."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        writer.writerow([csv_cell(row[name]) for name in columns])
    return text.getvalue()


def to_csv(rows: Iterable[Row], columns: Sequence[str] = COLUMNS) -> str:
    """Return rows as CSV with a header."""
    return ",".join(columns) + "\n" + csv_lines(rows, columns)


def json_value(value: Any) -> Any:
    """Return a possibly nested value for JSON: not finite numbers become null, `Verified` its stored value."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Verified):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): json_value(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(entry) for entry in value]
    return value


def to_json(rows: Iterable[Row]) -> str:
    """Return rows as a JSON array of objects; missing numbers are null."""
    return json.dumps([json_value({name: row[name] for name in COLUMNS}) for row in rows], indent=1) + "\n"


_OSU_WORDS = {"rate": "Messages/s", "gups": "GUP/s", "overhead": "Overhead (ratio)"}
"""Column heads for which the benchmarks have their own words."""
_OSU_WIDTH = 20
_OSU_COARSE = frozenset({"bandwidth", "rate"})
_OSU_SEED = 1


def to_osu(rows: Sequence[Row]) -> str:
    """Return rows in the layout of the OSU benchmarks: a comment header, then size and values in columns.

    Rows that differ only in size and metric share a block. Times are in us, bandwidth in MB/s (10^6 B).
    """
    blocks: dict[str, list[Row]] = {}
    for row in rows:
        blocks.setdefault(_osu_head(row), []).append(row)
    return "\n".join(_osu_block(head, entries) for head, entries in blocks.items())


def _osu_head(row: Row) -> str:
    """Describe a block: rows with the same description stand in one."""
    what = " ".join(str(row[name]) for name in ("kernel", "op", "variant") if row[name])
    words = [
        f"{row['ranks']} ranks",
        row["options"],
        f"repetition {row['repetition']}" if row["repetition"] else "",
        f"seed {row['seed']}" if row["seed"] not in {0, _OSU_SEED} else "",
        f"against {row['reference']}" if row["reference"] else "",
    ]
    return f"# gasmeter {what} on {installation(row)}, {', '.join(filter(None, words))} ({row['kind']})"


def _osu_block(head: str, rows: Sequence[Row]) -> str:
    metrics = list(dict.fromkeys((row["metric"], row["unit"]) for row in rows))
    columns = [_osu_column(metric, unit) for metric, unit in metrics]
    widths = [max(_OSU_WIDTH, len(name) + 2) for name, _ in columns]
    lines = [
        head,
        "# " + f"{'Size':<8}" + "".join(f"{name:>{w}}" for (name, _), w in zip(columns, widths, strict=True)),
    ]
    values = {(row["size_bytes"], row["metric"]): row["value"] for row in reversed(rows)}
    for size in dict.fromkeys(row["size_bytes"] for row in rows):
        cells = [
            f"{_osu_number(values.get((size, metric), math.nan) * factor, 2 if metric in _OSU_COARSE else 5):>{width}}"
            for (metric, _), (_, factor), width in zip(metrics, columns, widths, strict=True)
        ]
        lines.append(f"{size:<10}" + "".join(cells))
    return "\n".join(lines) + "\n"


def _osu_column(metric: str, unit: str) -> tuple[str, float]:
    """Return the head of a column, and the factor from a row's unit to the column's."""
    declared_metric = declared().metrics.get(metric)
    if declared_metric is not None and declared_metric.shown != declared_metric.unit:
        return f"{declared_metric.label.title()} ({declared_metric.shown})", declared_metric.scale
    return _OSU_WORDS.get(metric, f"{metric} ({unit})"), 1.0


def _osu_number(value: float, digits: int) -> str:
    """Return a number with the benchmarks' decimals, or more if a small number would lose its digits."""
    return f"{value:.4g}" if 0 < abs(value) < 10 ** (2 - digits) else f"{value:.{digits}f}"
