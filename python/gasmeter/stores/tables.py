"""Reads what a store holds, for everybody: run.json, results.csv, and the blocks behind the rows.

Stores of this schema and of older ones are read; newer ones are refused by number. Columns that an older schema did not
have get what they would have said. A last line that is cut off, as by a crash while it was written, is handed over
beside the whole ones: whoever reads decides whether what is left is enough.
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
"""Columns that rows of every schema have."""

_NUMBERS = ("value", "ci_low", "ci_high", "min", "p50", "p99", "host_state_ns")
_WHOLE = ("nodes", "ranks", "size_bytes", "n", "repetition", "seed")
_BEFORE = {"verified": "true", "nodes": "1", "kind": "measured"}
"""What a column says of rows from before there was such a column; nothing, 0 or false where it is not named."""

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
Truths = np.ndarray[tuple[int], np.dtype[np.bool_]]


@dataclass(frozen=True)
class Table:
    """results.csv as it stands.

    Attributes
    ----------
    path : Path
        The file.
    columns : tuple of str
        Its header.
    cells : list of list of str
        The rows, each as long as the header.
    lost : str
        How a last line begins that is cut off; empty if the file is whole.
    """

    path: Path
    columns: tuple[str, ...]
    cells: list[list[str]]
    lost: str = ""

    def pick(self, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """Yield some columns of each row.

        Parameters
        ----------
        names : sequence of str
            Columns of this schema.

        Yields
        ------
        tuple of str
            Cells in the order of `names`; what is missing as `typed_row` takes it.
        """
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
        """Return the rows with their numbers as numbers.

        Returns
        -------
        list of dict
            By the names of `gasmeter.rows.record.COLUMNS`.

        Raises
        ------
        UsageError
            If a cell is no number where there has to be one: with its line.
        """
        return [
            typed_row(dict(zip(COLUMNS, cells, strict=True)), f"{self.path}:{number}")
            for number, cells in enumerate(self.pick(COLUMNS), start=2)
        ]


@dataclass(frozen=True)
class Blocks:
    """The blocks of one point and metric.

    Attributes
    ----------
    run_id, metric : str
        Whose they are.
    values : numpy.ndarray
        In the unit of the row, in the order measured; NaN where there is none.
    kept : numpy.ndarray of bool
        False for those that were left out of comparisons since the cores had moved.
    """

    run_id: str
    metric: str
    values: Floats
    kept: Truths

    def usable(self) -> list[float]:
        """Values that were kept and are numbers."""
        return [float(value) for value in self.values[self.kept & np.isfinite(self.values)]]


def read_run(folder: Path) -> dict[str, Any] | None:
    """Return the run.json of a store.

    Parameters
    ----------
    folder : Path
        Output folder of a run.

    Returns
    -------
    dict or None
        None if the folder holds no store.

    Raises
    ------
    UsageError
        If the file is unreadable or of a newer schema.
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
    """Return the groups in the journal of a store.

    Parameters
    ----------
    folder : Path
        Output folder of a run.
    run : mapping
        What its run.json holds: in journals of schema 1 lines have no digests.

    Returns
    -------
    list of dict
        As `gasmeter.stores.journal.read_journal`.

    Raises
    ------
    UsageError
        If a line is damaged.
    """
    return read_journal(folder / JOURNAL, sealed=run.get("schema", STORE_SCHEMA) > 1)


def read_table(folder: Path) -> Table:
    """Return the results.csv of a store.

    Parameters
    ----------
    folder : Path
        Output folder of a run.

    Returns
    -------
    Table
        Without rows if the file is empty.

    Raises
    ------
    UsageError
        If there is no such file, it is damaged other than at its end, or holds something else.
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
    """Return a row of any schema as one of this.

    Parameters
    ----------
    cells : mapping
        Text of results.csv, or what a journal holds.
    where : str
        What is named if it cannot be read.

    Returns
    -------
    dict
        By the names of `gasmeter.rows.record.COLUMNS`.

    Raises
    ------
    UsageError
        If something is no number that has to be one, or a column is missing that every schema has.
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
    """Read the blocks of a store: of samples.parquet, or of the journal where that was not written.

    Parameters
    ----------
    folder : Path
        Output folder of a run.

    Yields
    ------
    Blocks
        Of each point and metric.

    Raises
    ------
    OSError, ValueError, KeyError, TypeError
        If a file cannot be read.
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
    """Return the blocks in the samples of a record.

    Parameters
    ----------
    samples : sequence of mapping
        As a journal holds them.

    Yields
    ------
    Blocks
        Of each point and metric.
    """
    for columns in samples:
        values = np.array([math.nan if value is None else value for value in columns["value"]], dtype=np.float64)
        yield Blocks(str(columns["run_id"]), str(columns["metric"]), values, np.asarray(columns["kept"], dtype=bool))
