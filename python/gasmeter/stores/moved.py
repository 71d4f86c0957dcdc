"""Effect of each what-if on each metric: the ratio to the unchanged machine, the largest effect first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gasmeter.arguments.sizes import format_size
from gasmeter.machines.machine import TOPOLOGY, Machine
from gasmeter.machines.named import machine
from gasmeter.rows.direction import better
from gasmeter.rows.record import Row
from gasmeter.rows.tidy import Tidy
from gasmeter.units import format_quantity

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MOVED_COLUMNS", "MOVED_HEADS", "moved", "moved_lines"]

MOVED_COLUMNS = (
    "what_if", "kernel", "op", "variant", "conduit", "ranks", "size_bytes", "options", "metric", "unit", "before",
    "after", "ratio", "better", "apart", "kind", "label", "machine", "topology", "placement", "run_id",
)  # fmt: skip
"""Columns of the table."""

MOVED_HEADS = (
    "what if",
    "kernel",
    "conduit",
    "ranks",
    "size",
    "metric",
    "as it is",
    "what if",
    "ratio",
    "effect",
    "label",
)
"""Heads of the table for people."""

_SAME = ("kernel", "op", "variant", "conduit", "ranks", "size_bytes", "options", "metric", "seed", "repetition")
_UNMOVED = 1e-9


def moved(result: Tidy) -> pd.DataFrame:
    """Return how each what-if moved each metric, with `MOVED_COLUMNS`, the largest effect first.

    A what-if is a machine with a number replaced or another topology; it is compared with the rows of the same
    benchmark and placement on the machine as its file describes it. If several placements stand side by side, each is
    compared with the first of them.

    ``before`` and ``after`` are medians, ``ratio`` is after / before, ``better`` is None where nothing moved. ``apart``
    is False if both intervals overlap. Without a what-if, or without rows of the unchanged machine, there are no rows.
    """
    import pandas as pd  # noqa: PLC0415 - most runs build no frame

    rows = [row for row in result.rows if row["machine"] and not row["reference"] and math.isfinite(row["value"])]
    named = {text: machine(text) for text in {row["machine"] for row in rows}}
    before: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        modelled = named[row["machine"]]
        if not _what_if(row, modelled):
            before.setdefault((*_key(row, modelled), row["placement"]), row)
            before.setdefault(_key(row, modelled), row)
    lines = []
    for row in rows:
        modelled = named[row["machine"]]
        what, unchanged = _what_if(row, modelled), before.get((*_key(row, modelled), row["placement"]))
        if unchanged is None or not what:
            unchanged = before.get(_key(row, modelled))
            what = ", ".join(filter(None, [what, _other_placement(row, unchanged)]))
        if what and unchanged is not None and unchanged["value"] > 0 and row["value"] > 0:
            lines.append(_line(what, row, unchanged))
    lines.sort(key=lambda line: -abs(math.log(line["ratio"])))
    return pd.DataFrame(lines, columns=pd.Index(MOVED_COLUMNS))


def _key(row: Row, modelled: Machine) -> tuple[Any, ...]:
    return (modelled.name, *(row[name] for name in _SAME))


def _what_if(row: Row, modelled: Machine) -> str:
    """Return the differences from the unchanged machine, except placement; empty if there are none."""
    parts = [f"{key} = {text}" for key, text in modelled.overrides().items() if key != TOPOLOGY]
    if row["topology"] != machine(modelled.name).topology:
        parts.append(f"{TOPOLOGY} = {row['topology']}")
    return ", ".join(parts)


def _other_placement(row: Row, unchanged: Row | None) -> str:
    return (
        f"placement = {row['placement']}"
        if unchanged is not None and unchanged["placement"] != row["placement"]
        else ""
    )


def _line(what: str, row: Row, unchanged: Row) -> Row:
    ratio = row["value"] / unchanged["value"]
    still = abs(ratio - 1) <= _UNMOVED
    copied = ("kernel", "op", "variant", "conduit", "ranks", "size_bytes", "options", "metric", "unit", "kind", "label",
              "machine", "topology", "placement", "run_id")  # fmt: skip
    return {
        "what_if": what,
        **{name: row[name] for name in copied},
        "before": unchanged["value"],
        "after": row["value"],
        "ratio": 1.0 if still else ratio,
        "apart": _apart(row, unchanged),
        "better": None if still else (ratio < 1) == (better(row["metric"], row["unit"]) == "smaller"),
    }


def _apart(row: Row, unchanged: Row) -> bool:
    """Tell whether the intervals of two rows do not overlap; a row without one counts as its median."""
    low, high = ((_bound(entry, "ci_low"), _bound(entry, "ci_high")) for entry in (unchanged, row))
    return bool(low[1] < high[0] or high[1] < low[0])


def _bound(row: Row, name: str) -> float:
    return float(row[name] if math.isfinite(row[name]) else row["value"])


def moved_lines(result: Tidy) -> list[list[str]]:
    """Return cells below `MOVED_HEADS`; unmoved metrics stand last, in one line for each what-if."""
    table = moved(result)
    lines = [_cells(row) for row in table.to_dict("records") if row["better"] is not None]
    for what, rows in table.groupby("what_if", sort=False):
        still = int(rows["better"].isna().sum())
        if still:
            count = "all" if still == len(rows) else f"{still} of"
            lines.append(
                [
                    str(what),
                    f"{count} {len(rows)} figures",
                    *[""] * 6,
                    "1",
                    "unmoved",
                    f"{rows['kind'].iloc[0]}, {rows['label'].iloc[0]}",
                ]
            )
    return lines


def _cells(row: dict[Any, Any]) -> list[str]:
    names = (row["kernel"], row["op"], row["variant"], row["options"])
    return [
        row["what_if"],
        " ".join(dict.fromkeys(name for name in names if name)),
        row["conduit"],
        str(row["ranks"]),
        format_size(row["size_bytes"]) if row["size_bytes"] else "-",
        row["metric"],
        format_quantity(row["before"], row["unit"], row["metric"]),
        format_quantity(row["after"], row["unit"], row["metric"]),
        _ratio(row["ratio"]),
        ("better" if row["better"] else "worse") if row["apart"] else "within the scatter of blocks",
        f"{row['kind']}, {row['label']}",
    ]


def _ratio(ratio: float) -> str:
    """Return a ratio with enough digits to show that it is not 1."""
    off = abs(ratio - 1)
    return f"{ratio:.3g}" if off >= 0.1 else f"{ratio:.{max(4, 1 - math.floor(math.log10(off)))}f}"
