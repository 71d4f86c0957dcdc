"""Rows as text: a table for people, CSV and JSON for programs, and the layout of the OSU benchmarks."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gasmeter.catalogue import declared
from gasmeter.rows.direction import better, compared_metric
from gasmeter.rows.record import COLUMNS, MIXED, Row, installation
from gasmeter.sweeps.point import NOT_CHECKED
from gasmeter.units import format_bytes, format_quantity

__all__ = [
    "counters_table",
    "csv_cell",
    "csv_lines",
    "format_interval",
    "format_value",
    "is_speed_ratio",
    "json_value",
    "render",
    "render_table",
    "to_csv",
    "to_json",
    "to_osu",
]

_WIDTH = 240
"""Wider than any row: a terminal that is narrower wraps lines, which is better than cutting numbers off."""


def render(rows: Sequence[Row], form: str, *, title: str = "", footer: Sequence[str] = ()) -> str:
    """Return rows in one of the formats.

    Parameters
    ----------
    rows : sequence of dict
        By the names of `gasmeter.rows.record.COLUMNS`.
    form : {"table", "csv", "json", "osu"}
        The format.
    title, footer : str, sequence of str
        Lines around a table; the other formats hold rows only.

    Returns
    -------
    str
        Ends in a newline.
    """
    if form == "csv":
        return to_csv(rows)
    if form == "json":
        return to_json(rows)
    if form == "osu":
        return to_osu(rows)
    return _table(rows, title, footer)


def csv_cell(value: object) -> str:
    """Return a value as it stands in a CSV cell.

    Parameters
    ----------
    value : object
        Text, number or truth value.

    Returns
    -------
    str
        ``true``/``false``, nothing for NaN, the shortest text that reads back as the same float.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(float(value))
    return "" if value is None else str(value)


def csv_lines(rows: Iterable[Row], columns: Sequence[str] = COLUMNS) -> str:
    """Return rows as CSV lines without a header.

    Parameters
    ----------
    rows : iterable of dict
        By the names of the columns.
    columns : sequence of str
        In order; those of results.csv.

    Returns
    -------
    str
        One line each.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        writer.writerow([csv_cell(row[name]) for name in columns])
    return text.getvalue()


def to_csv(rows: Iterable[Row], columns: Sequence[str] = COLUMNS) -> str:
    """Return rows as CSV with a header.

    Parameters
    ----------
    rows : iterable of dict
        By the names of the columns.
    columns : sequence of str
        In order; those of results.csv.

    Returns
    -------
    str
        What stands in the file.
    """
    return ",".join(columns) + "\n" + csv_lines(rows, columns)


def json_value(value: Any) -> Any:
    """Return a value that JSON can hold: numbers that are not finite become null.

    Parameters
    ----------
    value : object
        Possibly nested.

    Returns
    -------
    object
        The same with plain containers.
    """
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): json_value(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(entry) for entry in value]
    return value


def to_json(rows: Iterable[Row]) -> str:
    """Return rows as a JSON array of objects.

    Parameters
    ----------
    rows : iterable of dict
        By the names of `gasmeter.rows.record.COLUMNS`.

    Returns
    -------
    str
        Missing numbers are null.
    """
    return json.dumps([json_value({name: row[name] for name in COLUMNS}) for row in rows], indent=1) + "\n"


_OSU_WORDS = {"rate": "Messages/s", "gups": "GUP/s", "overhead": "Overhead (ratio)"}
"""Heads of columns that the benchmarks have their own words for."""
_OSU_WIDTH = 20
_OSU_COARSE = frozenset({"bandwidth", "rate"})
_OSU_SEED = 1


def to_osu(rows: Sequence[Row]) -> str:
    """Return rows in the layout of the OSU benchmarks: a comment header, then size and values in columns.

    Parameters
    ----------
    rows : sequence of dict
        By the names of `gasmeter.rows.record.COLUMNS`.

    Returns
    -------
    str
        One block for all rows that differ in nothing but size and metric; times in us, bandwidth in MB/s (10^6 B).
    """
    blocks: dict[str, list[Row]] = {}
    for row in rows:
        blocks.setdefault(_osu_head(row), []).append(row)
    return "\n".join(_osu_block(head, entries) for head, entries in blocks.items())


def _osu_head(row: Row) -> str:
    """Say what a block holds: rows with the same words stand in one."""
    what = " ".join(str(row[name]) for name in ("kernel", "op", "variant") if row[name])
    told = [
        f"{row['ranks']} ranks",
        row["options"],
        f"repetition {row['repetition']}" if row["repetition"] else "",
        f"seed {row['seed']}" if row["seed"] not in {0, _OSU_SEED} else "",
        f"against {row['reference']}" if row["reference"] else "",
    ]
    return f"# gasmeter {what} on {installation(row)}, {', '.join(filter(None, told))} ({row['kind']})"


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
    known = declared().metrics.get(metric)
    if known is not None and known.shown != known.unit:
        return f"{known.label.title()} ({known.shown})", known.scale
    return _OSU_WORDS.get(metric, f"{metric} ({unit})"), 1.0


def _osu_number(value: float, digits: int) -> str:
    """As many decimals as the benchmarks write, unless they would leave little or nothing of a small number."""
    return f"{value:.4g}" if 0 < abs(value) < 10 ** (2 - digits) else f"{value:.{digits}f}"


def is_speed_ratio(row: Row) -> bool:
    """Return whether a row compares bandwidths or rates: what is above its reference is faster, not an overhead.

    Parameters
    ----------
    row : dict
        By the names of `gasmeter.rows.record.COLUMNS`.

    Returns
    -------
    bool
        False of times, and of what compares nothing.
    """
    return row["metric"] == "overhead" and better(compared_metric(row), "") == "bigger"


def format_value(row: Row, name: str = "value") -> str:
    """Return a number of a row for people.

    Parameters
    ----------
    row : dict
        By the names of `gasmeter.rows.record.COLUMNS`.
    name : {"value", "ci_low", "ci_high"}, optional
        Which.

    Returns
    -------
    str
        As `format_quantity`; how bandwidths and rates compare as a factor, ``5.47 x`` as fast as the reference.
    """
    if is_speed_ratio(row) and math.isfinite(row[name]):
        return f"{row[name] + 1:.3g} x"
    return format_quantity(row[name], row["unit"], row["metric"])


def format_interval(row: Row) -> str:
    """Return the 95 % interval of a row for people.

    Parameters
    ----------
    row : dict
        By the names of `gasmeter.rows.record.COLUMNS`.

    Returns
    -------
    str
        ``low … high`` with units, or a dash where there is no interval.
    """
    if not (math.isfinite(row["ci_low"]) and math.isfinite(row["ci_high"])):
        return "-"
    ends = (format_value(row, name) for name in ("ci_low", "ci_high"))
    return " … ".join(ends)


def render_table(table: Table) -> str:
    """Return a rich table as plain text.

    Parameters
    ----------
    table : rich.table.Table
        What to show.

    Returns
    -------
    str
        Without colours or trailing blanks.
    """
    text = io.StringIO()
    Console(file=text, width=_WIDTH, no_color=True, highlight=False, legacy_windows=False).print(table)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def _table(rows: Sequence[Row], title: str, footer: Sequence[str]) -> str:
    table = Table(box=box.SIMPLE_HEAD, title=title or None, title_justify="left", pad_edge=False)
    columns: list[tuple[str, str]] = [("kernel", "kernel")] if len({row["kernel"] for row in rows}) > 1 else []
    columns.append(("op", "op"))
    columns += [(name, name) for name in ("variant",) if any(row[name] for row in rows)]
    columns += [("conduit", "conduit"), ("ranks", "ranks"), ("size", "size")]
    columns += [(name, name) for name in ("options",) if any(row[name] for row in rows)]
    columns += [
        ("metric", "metric"),
        ("median", "median"),
        ("95 % interval", "interval"),
        ("blocks", "n"),
        *([("state", "state")] if any(row["state"] for row in rows) else []),
        ("", "remark"),
    ]
    right = {"ranks", "size", "median", "interval", "n"}
    for head, name in columns:
        table.add_column(head, justify="right" if name in right else "left", no_wrap=True)
    for row in rows:
        cells = _cells(row)
        table.add_row(*(Text(cells[name]) for _, name in columns))
    return render_table(table) + "".join(f"{line}\n" for line in footer)


def _cells(row: Row) -> dict[str, str]:
    remarks = [] if row["verified"] else ["NOT VERIFIED"]
    remarks += ["not checked"] if row["verified"] == NOT_CHECKED else []
    remarks += [row["kind"]] if row["kind"] in {"modelled", MIXED} else []
    remarks += ["more ranks than cores"] if row["oversubscribed"] else []
    remarks += [f"over {row['reference']}"] if row["reference"] else []
    return {
        "kernel": row["kernel"],
        "op": row["op"],
        "variant": row["variant"],
        "conduit": installation(row),
        "ranks": str(row["ranks"]),
        "size": format_bytes(row["size_bytes"]) if row["size_bytes"] else "-",
        "options": row["options"],
        "metric": f"{compared_metric(row)} ratio" if is_speed_ratio(row) else row["metric"],
        "median": format_value(row),
        "interval": format_interval(row),
        "n": str(row["n"]),
        "state": row["state"],
        "remark": ", ".join(remarks),
    }


def counters_table(rows: Sequence[Row]) -> str:
    """Return counters as a table for people.

    Parameters
    ----------
    rows : sequence of dict
        By the names of `COUNTER_COLUMNS`.

    Returns
    -------
    str
        A line for each point and counter; counters that stayed 0 on every line are named below it.
    """
    if not rows:
        return "counters: none; what ranks of a node do in the memory they share (smp) is not counted\n"
    seen = {row["counter"] for row in rows if row["value"]}
    silent = [name for name in declared().counters if name not in seen and any(row["counter"] == name for row in rows)]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    named = any(row["options"] for row in rows)
    heads = ["op", "conduit", "ranks", "size", *(["options"] if named else []), "counter", "all ranks", "per operation"]
    right = {"ranks", "size", "all ranks", "per operation"}
    for head in heads:
        table.add_column(head, justify="right" if head in right else "left", no_wrap=True)
    for row in rows:
        if row["counter"] in seen:
            cells = [
                row["op"], installation(row), str(row["ranks"]),
                format_bytes(row["size_bytes"]) if row["size_bytes"] else "-", *([row["options"]] if named else []),
                row["counter"], f"{row['value']:,}", f"{row['per_operation']:.4g}",
            ]  # fmt: skip
            table.add_row(*(Text(cell) for cell in cells))
    below = f"0 everywhere: {', '.join(silent)}\n" if silent else ""
    return render_table(table) + below + "summed over ranks and measured blocks\n"
