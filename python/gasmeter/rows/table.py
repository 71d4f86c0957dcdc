"""Rows as a table for people; facts that all rows share stand above it, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from gasmeter.arguments.sizes import format_size
from gasmeter.catalogue import declared
from gasmeter.rendering.terminal import folded, lines_of, table_text
from gasmeter.rows.direction import better, compared_metric
from gasmeter.rows.record import Row, places
from gasmeter.rows.state import GOOD
from gasmeter.rows.verified import Verified
from gasmeter.units import format_quantity

__all__ = [
    "NUMBERS",
    "WORDS",
    "counters_table",
    "format_interval",
    "format_value",
    "is_speed_ratio",
    "rows_table",
    "title_line",
]

WORDS: Mapping[str, str] = {
    **dict.fromkeys(("kernel", "apart", "size", "options", "metric", "kind", ""), "{}"),
    **dict.fromkeys(("op", "variant"), " {}"),
    "conduit": " on {}",
    "ranks": "{} ranks",
    "blocks": "{} blocks",
    "state": "",  # the line below tables counts the good rows
}
"""Title words for a column that is left out, by head; a blank at the beginning stands for a comma."""

NUMBERS = frozenset({"ranks", "size", "median", "overhead", "overhead, or x as fast", "95 % interval", "P99", "blocks"})
"""Heads of columns of numbers."""
_KEPT = frozenset({"median"})


def title_line(title: str, common: Sequence[str]) -> str:
    """Return the line above a table; a title that is the kernel's name alone is not repeated.

    `common` are the facts that all rows share.
    """
    words = "".join(word if word.startswith(" ") else f", {word}" for word in common).removeprefix(",").strip()
    if not words or title in common[:1]:
        return words or title
    return f"{title}: {words}" if title else words


def is_speed_ratio(row: Row) -> bool:
    """Tell whether a row compares bandwidths or rates, so that a value above the reference is faster."""
    return row["metric"] == "overhead" and better(compared_metric(row), "") == "bigger"


def format_value(row: Row, name: str = "value") -> str:
    """Return a number of a row for people; ratios of bandwidths and rates as a factor, ``5.47 x``."""
    if is_speed_ratio(row) and math.isfinite(row[name]):
        return f"{row[name] + 1:.3g} x"
    return format_quantity(row[name], row["unit"], row["metric"])


def format_interval(row: Row) -> str:
    """Return the 95 % interval of a row, ``low … high`` with units, or a dash without one."""
    if not (math.isfinite(row["ci_low"]) and math.isfinite(row["ci_high"])):
        return "-"
    ends = (format_value(row, name) for name in ("ci_low", "ci_high"))
    return " … ".join(ends)


def _short_interval(row: Row) -> str:
    """Return an interval whose unit stands once where both ends have it."""
    low, _, high = format_interval(row).partition(" … ")
    number, _, unit = low.partition(" ")
    return f"{number if unit and high.endswith(f' {unit}') else low} … {high}" if high else low


def rows_table(
    rows: Sequence[Row], title: str = "", footer: Sequence[str] = (), *, every: bool = False, colour: bool = False
) -> str:
    """Return rows as a table that fits the terminal and ends in a newline.

    `every` adds the 99th percentile and the meaning of "done"; `colour` as in `gasmeter.rendering.terminal.coloured`.
    """
    cells = [_cells(row, place, every=every) for row, place in zip(rows, places(rows), strict=True)]
    heads = list(cells[0]) if cells else ["median"]
    kept = {*_KEPT, *_warnings(cells)}
    common, heads, lines = folded(heads, [list(line.values()) for line in cells], WORDS, kept)
    text = table_text(
        heads, lines, title=title_line(title, common), whole=NUMBERS, verdicts={"state", ""}, colour=colour
    )
    return text + "".join(f"{lines_of(line)}\n" for line in footer)


def _warnings(cells: Sequence[Mapping[str, str]]) -> set[str]:
    """Return the heads of columns that stay even if all rows agree, since they warn."""
    return {head for line in cells for head, good in (("state", GOOD), ("", "")) if line[head] not in {good, ""}}


def _cells(row: Row, place: Mapping[str, str], *, every: bool) -> dict[str, str]:
    remarks = ["NOT VERIFIED"] if row["verified"] is Verified.FALSE else []
    remarks += ["not checked"] if row["verified"] is Verified.NOT_CHECKED else []
    remarks += ["more ranks than cores"] if row["oversubscribed"] else []
    remarks += [f"over {row['reference']}"] if row["reference"] else []
    long = {"P99": format_value(row, "p99")} if every else {}
    return {
        "kernel": row["kernel"],
        "op": row["op"] if row["op"] != row["kernel"] else "",
        "variant": row["variant"],
        **place,
        "ranks": str(row["ranks"]),
        "size": format_size(row["size_bytes"]) if row["size_bytes"] else "-",
        "options": row["options"].replace(";", ", "),
        "metric": f"{compared_metric(row)} ratio" if is_speed_ratio(row) else row["metric"],
        "kind": row["kind"],
        "median": format_value(row),
        "95 % interval": _short_interval(row),
        **long,
        "blocks": str(row["n"]),
        "state": row["state"],
        "": ", ".join(remarks),
        **({"semantics": row["semantics"]} if every else {}),
    }


def counters_table(rows: Sequence[Row]) -> str:
    """Return counters as a table: a line for each point and counter; counters that stayed 0 are named below it."""
    if not rows:
        return "counters: none; what ranks of a node do in the memory they share (smp) is not counted\n"
    seen = {row["counter"] for row in rows if row["value"]}
    silent = [name for name in declared().counters if name not in seen and any(row["counter"] == name for row in rows)]
    cells = [
        {
            "op": row["op"],
            **place,
            "ranks": str(row["ranks"]),
            "size": format_size(row["size_bytes"]) if row["size_bytes"] else "-",
            "options": row["options"].replace(";", ", "),
            "counter": row["counter"],
            "all ranks": f"{row['value']:,}",
            "per operation": f"{row['per_operation']:.4g}",
        }
        for row, place in zip(rows, places(rows), strict=True)
        if row["counter"] in seen
    ]
    kept = {"counter", "all ranks", "per operation"}
    common, heads, lines = folded(list(cells[0]) if cells else [], [list(line.values()) for line in cells], WORDS, kept)
    text = table_text(heads, lines, title=title_line("counters", common), whole={"ranks", "size", *kept} - {"counter"})
    below = f"{lines_of('0 everywhere: ' + ', '.join(silent))}\n" if silent else ""
    return text + below + "summed over ranks and measured blocks\n"
