"""Read a store's content for all rooms: run.json, results.csv, and the blocks behind the rows.

Stores of this schema and of older ones are read; newer ones are refused by number. Columns that an older schema lacks
get their implied value. A cut-off last line, as after a crash, is returned beside the complete ones, and the caller
decides whether the rest is enough.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from gasmeter.errors import UsageError
from gasmeter.rows.parquet import read_parquet
from gasmeter.rows.record import COLUMNS, Row
from gasmeter.rows.verified import Verified
from gasmeter.stores.files import JOURNAL, ROWS, RUN, SAMPLES, STORE_SCHEMA, is_there, read_content
from gasmeter.stores.journal import read_journal

__all__ = [
    "NEEDED",
    "Blocks",
    "Table",
    "blocks_of",
    "read_blocks",
    "read_entries",
    "read_run",
    "read_table",
    "typed_row",
]

NEEDED = frozenset({"kernel", "metric", "value", "unit"})
"""Columns of rows in every schema."""

_NUMBERS = ("value", "ci_low", "ci_high", "min", "p50", "p99", "host_state_ns")
_WHOLE = ("nodes", "ranks", "size_bytes", "n", "repetition", "seed")
_BEFORE = {"verified": "true", "nodes": "1", "kind": "measured"}
"""Implied value of columns that a schema lacks; empty, 0 or false for columns not listed."""

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
Truths = np.ndarray[tuple[int], np.dtype[np.bool_]]


@dataclass(frozen=True)
class Table:
    """Content of results.csv."""

    path: Path
    columns: tuple[str, ...]  # header
    cells: list[list[str]]  # rows, each as long as the header
    lost: str = ""  # begin of a cut-off last line; empty if the file is complete

    def pick(self, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """Yield the cells of some columns for each row; missing ones as `typed_row` takes them."""
        where = {name: position for position, name in enumerate(self.columns)}
        absent = [name for name in names if name not in where]
        extra = [_BEFORE.get(name, "") for name in absent]
        places = [where.get(name, -1) for name in names]
        for number, name in enumerate(absent):
            places[names.index(name)] = len(self.columns) + number
        pick = itemgetter(*places)  # a history has hundreds of thousands of rows
        for cells in self.cells:
            picked = pick(cells + extra if extra else cells)
            yield picked if len(places) > 1 else (picked,)

    def rows(self) -> list[Row]:
        """Return the rows with numbers as numbers; raise UsageError with the line of a cell that is none."""
        return [
            typed_row(dict(zip(COLUMNS, cells, strict=True)), f"{self.path}:{number}")
            for number, cells in enumerate(self.pick(COLUMNS), start=2)
        ]


@dataclass(frozen=True)
class Blocks:
    """The blocks of one point and metric."""

    run_id: str
    metric: str
    values: Floats  # in the unit of the row and the order measured; NaN for missing ones
    kept: Truths  # False for blocks left out of comparisons since the cores had moved

    def usable(self) -> list[float]:
        """Values that were kept and are numbers."""
        return [float(value) for value in self.values[self.kept & np.isfinite(self.values)]]


def read_run(folder: Path) -> dict[str, Any] | None:
    """Return the run.json of a store, or None without a store.

    Raises UsageError if it is unreadable or of a newer schema.
    """
    path = folder / RUN
    if not is_there(folder, RUN):
        return None
    try:
        content = json.loads(read_content(folder, RUN))
        schema = int(content["schema"])
    except (ValueError, KeyError, TypeError, OSError) as error:
        if isinstance(error, PermissionError):
            raise
        why = "it names no schema" if isinstance(error, KeyError | TypeError) else str(error)
        raise UsageError(
            f"{path} is not a run.json of gasmeter ({why}); allowed: a folder written by `gasmeter run`"
        ) from error
    if not 1 <= schema <= STORE_SCHEMA:
        allowed = f"1 to {STORE_SCHEMA}" if STORE_SCHEMA > 1 else "1"
        newer = ", from a newer gasmeter" if schema > 0 else ""
        raise UsageError(f"{path} has schema {schema}{newer}; allowed: {allowed}", str(schema))
    return dict(content)


def read_entries(folder: Path, run: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the journal's groups of a store as `gasmeter.stores.journal.read_journal`; UsageError if damaged."""
    return read_journal(folder / JOURNAL, sealed=run.get("schema", STORE_SCHEMA) > 1)


def read_table(folder: Path) -> Table:
    """Return the results.csv of a store, without rows if it is empty.

    Raises UsageError if the file is missing, damaged other than at its end, or something else.
    """
    path = folder / ROWS
    try:
        text = read_content(folder, ROWS).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}; allowed: a folder written by `gasmeter run`") from error
    lost = ""
    if text and not text.endswith("\n"):
        text, _, lost = text.rpartition("\n")
        lost = lost or "nothing"
    lines = csv.reader(text.splitlines())
    head = next(lines, None)
    if head is None:
        return Table(path, (), [], lost)
    if not set(head) >= NEEDED:
        raise UsageError(f"{path}:1: not the columns of a results.csv; allowed: {', '.join(COLUMNS)}", ",".join(head))
    cells = []
    for row in lines:
        if len(row) != len(head):
            raise UsageError(f"{path}:{lines.line_num}: {len(row)} cells instead of {len(head)}; the file is damaged")
        cells.append(row)
    return Table(path, tuple(head), cells, lost)


def typed_row(cells: Mapping[str, Any], where: str) -> Row:
    """Return a row of any schema as a row of this one; `where` names it in messages.

    Raises UsageError if a required number is none, or a column of every schema is missing.
    """
    if lacking := NEEDED - cells.keys():
        raise UsageError(f"{where}: a row without {', '.join(sorted(lacking))}")
    row: Row = {name: cells.get(name, _BEFORE.get(name, "")) for name in COLUMNS}
    for name in (*_NUMBERS, *_WHOLE):
        try:
            row[name] = _number(row[name], whole=name in _WHOLE)
        except (TypeError, ValueError) as error:
            raise UsageError(f"{where}: {name} is {row[name]!r}, not a number") from error
    row["oversubscribed"] = row["oversubscribed"] in {True, "true"}
    try:
        row["verified"] = Verified.of(row["verified"])
    except ValueError as error:
        raise UsageError(f"{where}: {error}") from error
    return row


def _number(value: Any, *, whole: bool) -> float | int:
    if whole:
        return int(value or 0)
    if value is None or value == "":
        return math.nan
    number = float(value)
    if math.isinf(number):
        raise ValueError
    return number


def read_blocks(folder: Path) -> Iterator[Blocks]:
    """Yield the blocks of each point and metric from samples.parquet, or from the journal without it.

    Raises OSError, ValueError, KeyError or TypeError if a file cannot be read.
    """
    if not is_there(folder, SAMPLES):
        for entry in read_entries(folder, read_run(folder) or {}):
            yield from blocks_of(entry.get("samples", []))
        return
    table = read_parquet(read_content(folder, SAMPLES), ["run_id", "metric", "value", "kept"])
    ids, metrics = (np.asarray(table[name].to_pylist(), dtype=object) for name in ("run_id", "metric"))
    values = table["value"].to_numpy().astype(np.float64)
    kept = np.asarray(table["kept"].to_numpy(), dtype=bool)
    if not ids.size:
        return
    starts = np.flatnonzero(np.r_[True, (ids[1:] != ids[:-1]) | (metrics[1:] != metrics[:-1])])
    for start, end in zip(starts, [*starts[1:], ids.size], strict=True):
        yield Blocks(str(ids[start]), str(metrics[start]), values[start:end], kept[start:end])


def blocks_of(samples: Sequence[Mapping[str, Any]]) -> Iterator[Blocks]:
    """Yield the blocks of each point and metric in a journal record's samples."""
    for columns in samples:
        values = np.array([math.nan if value is None else value for value in columns["value"]], dtype=np.float64)
        yield Blocks(str(columns["run_id"]), str(columns["metric"]), values, np.asarray(columns["kept"], dtype=bool))
