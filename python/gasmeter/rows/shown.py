"""Rows as a notebook shows them: columns that vary, and a line of facts that all share."""

from __future__ import annotations

from collections.abc import Sequence

from gasmeter.arguments.sizes import format_size
from gasmeter.rendering.html_tables import html_table
from gasmeter.rows.record import Row
from gasmeter.rows.state import GOOD
from gasmeter.rows.table import format_interval, format_value
from gasmeter.rows.verified import Verified

__all__ = ["rows_html", "summary_line"]

_SAYS_WHICH = (
    "kernel", "op", "variant", "conduit", "machine", "topology", "placement", "kind", "label", "ranks", "size_bytes",
    "options", "metric", "reference", "verified", "state", "repetition", "seed",
)  # fmt: skip
"""Columns that identify a value, in the order of the table."""
_HEADS = {"size_bytes": "size"}
_UNSAID = {"verified": str(Verified.TRUE), "state": GOOD, "repetition": "0", "seed": "1"}
"""Values so usual that they are left out if all rows share them."""
_RIGHT = frozenset({"ranks", "size", "median", "95 % interval", "blocks", "repetition", "seed"})
_MOST_LINES = 200
_FEW = 3


def rows_html(title: str, rows: Sequence[Row], remarks: Sequence[str]) -> str:
    """Return rows as an HTML table of at most 200 lines, with title and remarks.

    Everything that differs between rows has a column. The caption holds the rest, always kind and metric, and the
    reference of the values. Units keep values short.
    """
    cells = [{name: _text(row, name) for name in _SAYS_WHICH} for row in rows]
    values = {name: list(dict.fromkeys(cell[name] for cell in cells)) for name in _SAYS_WHICH}
    varied = [name for name in _SAYS_WHICH if len(values[name]) > 1]
    same = ((name, values[name][0]) for name in _SAYS_WHICH if len(values[name]) == 1)
    caption = " · ".join(
        f"{_HEADS.get(name, name)} {text}" for name, text in same if text and _UNSAID.get(name) != text
    )
    heads = [*(_HEADS.get(name, name) for name in varied), "median", "95 % interval", "blocks"]
    lines = [
        [*(cell[name] for name in varied), format_value(row),
         format_interval(row), str(row["n"])]
        for row, cell in zip(rows[:_MOST_LINES], cells, strict=False)
    ]  # fmt: skip
    ops = ("{op} " if len(values["op"]) > 1 else "") + "{metric}: {semantics}"
    meanings = dict.fromkeys(ops.format_map(row) for row in rows if row["semantics"])
    left = f"{len(rows) - _MOST_LINES} more rows: .frame() has all" if len(rows) > _MOST_LINES else ""
    below = [line for line in (left, "; ".join(meanings), *remarks) if line]
    return html_table(title, caption, heads, lines, right=_RIGHT, remarks=below)


def _text(row: Row, name: str) -> str:
    value = row[name]
    if name == "size_bytes":
        return format_size(value) if value else ""
    return str(value)


def summary_line(rows: Sequence[Row]) -> str:
    """Return a short description of rows: ``2 rows of 2 points, modelled, ping-pong put on ideal``."""
    if not rows:
        return "no rows"
    points = len({row["run_id"] for row in rows})
    kinds = " and ".join(sorted({row["kind"] for row in rows}))
    kernels, ops, conduits = ([*dict.fromkeys(row[name] for row in rows)] for name in ("kernel", "op", "conduit"))
    ops = [] if ops == kernels else ops
    what = " ".join(filter(None, [_few(kernels, "kernels"), _few(ops, "ops")]))
    return f"{_count(len(rows), 'row')} of {_count(points, 'point')}, {kinds}, {what} on {_few(conduits, 'conduits')}"


def _few(names: Sequence[str], what: str) -> str:
    return ", ".join(names) if len(names) <= _FEW else f"{len(names)} {what}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
