"""Tables of a store as Parquet files that give back every byte of the CSV files they stand for.

``results.parquet`` takes about an eighth of ``results.csv.xz``, because it does not hold what follows from the rest:

- the name of a modelled point is a hash of what the point is, so that the packed table holds what is hashed;
- one block has one value, so that its minimum, median and 99th percentile are that value;
- a modelled time is a whole number of picoseconds divided by the operations, so that it holds that number;
- a rate is the bandwidth divided by the size, and a count per operation is the count divided by the operations;
- ``points.csv`` and ``counters.csv`` repeat what ``results.csv`` says of their points, so that they hold a number.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import io
import json
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gasmeter.errors import UsageError
from gasmeter.rows.parquet import read_parquet

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["PACKED", "pack", "packed_name", "point_name", "unpacked"]

PACKED = ".parquet"
"""Ending of a packed table, in place of ``.csv``."""

_ROWS = "results.csv"
_TABLES = (_ROWS, "points.csv", "counters.csv")
_NAME, _POINT, _FORMAT = "run_id", "point", "gasmeter table"
_VERSION = 1
_PER = "per_operation"
_MOST, _FAR = 1 << 53, 9
_SAME = ("min", "p50", "p99")
_HASHED = ("machine_digest", "budget", "iterations")
_PICOSECONDS, _STEPS = "picoseconds", "steps"
_ENCODINGS = {"whole": ("DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT", "PLAIN", ""),
              "real": ("BYTE_STREAM_SPLIT", "PLAIN", ""), "text": ("PLAIN", "")}  # fmt: skip
_WRITTEN: dict[str, Any] = {
    "compression": "zstd", "compression_level": 22, "write_statistics": False, "row_group_size": 1 << 26,
    "data_page_size": 1 << 24, "dictionary_pagesize_limit": 1 << 24,
}  # fmt: skip
_REPEATED = (
    "kernel", "op", "variant", "conduit", "network", "kind", "machine", "topology", "placement", "nodes", "ranks",
    "size_bytes", "options", "repetition", "seed",
)  # fmt: skip

Columns = dict[str, list[str | None]]
"""Cells by column; None where a cell follows from others."""


def packed_name(name: str) -> str:
    """Return the name of the packed file for a table of a store; empty if that table is never packed this way."""
    return name.removesuffix(".csv") + PACKED if name in _TABLES else ""


def point_name(row: Mapping[str, str], digest: str, budget: str, iterations: str) -> str:
    """Return the name of a point, 16 hexadecimal digits, as `gasmeter.sweeps.point.Point.id` computes it.

    The recipe stands here a second time because it belongs to the format of packed tables: a later change of points
    must not change the names in a published store. `row` has cells of results.csv. `digest` is the hash of the
    machine's numbers, empty for a real conduit. `budget` is JSON of ``blocks``, ``ci``, ``max_time_s`` and ``time_s``,
    those that count. `iterations` is the number of operations of each rank in a block, or ``null``.
    """
    head, tail = _budget_text(budget)
    text = (
        f'{{"budget":{head}"iterations":{iterations}{tail}"conduit":{_quoted(row["conduit"])},'
        f'"kernel":{_quoted(row["kernel"])},"machine":{_quoted(row["machine"])},'
        + (f'"machine_digest":"{digest}",' if digest else "")
        + f'"nodes":{row["nodes"]},"op":{_quoted(row["op"])},"options":{_options(row["options"])},'
        f'"placement":{_quoted(row["placement"])},"ranks":{row["ranks"]},"repetition":{row["repetition"]},'
        f'"schema":1,"seed":{row["seed"]},"size_bytes":{row["size_bytes"]},"topology":{_quoted(row["topology"])},'
        f'"variant":{_quoted(row["variant"])}}}'
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


_quoted = functools.cache(json.dumps)


@functools.cache
def _budget_text(budget: str) -> tuple[str, str]:
    """Return the hashed text of a budget before and behind its iterations."""
    parts = json.loads(budget)
    before = "".join(f'"{name}":{json.dumps(parts[name])},' for name in ("blocks", "ci") if name in parts)
    behind = ",".join(f'"{name}":{json.dumps(parts[name])}' for name in ("max_time_s", "time_s"))
    return f"{{{before}", f",{behind}}},"


@functools.cache
def _options(text: str) -> str:
    pairs = dict(pair.split("=", 1) for pair in text.split(";") if pair)
    return json.dumps(pairs, sort_keys=True, separators=(",", ":"))


def pack(tables: Mapping[str, bytes], points: Mapping[str, Mapping[str, Any]]) -> dict[str, bytes]:
    """Pack the tables of a store; return the packed files by name.

    `tables` are ``results.csv`` and, if the store has them, ``points.csv`` and ``counters.csv``. `points` has by run_id
    the values ``machine_digest``, ``budget`` and ``iterations`` that `point_name` takes; a point that is missing here
    keeps its name in the table. Raises UsageError if a packed table would not give back its bytes.
    """
    rows = _cells(tables[_ROWS])
    names = list(dict.fromkeys(map(str, rows[_NAME])))
    whole = {name: list(cells) for name, cells in rows.items()}
    packed = {_ROWS: _parquet(_without_names(rows, points))}
    for name in _TABLES[1:]:
        if name in tables:
            packed[name] = _parquet(_without_points(_cells(tables[name]), names, whole))
    for name, content in packed.items():
        back = _text(name, content, packed[_ROWS])
        if back != tables[name]:
            raise UsageError(f"{name} cannot be packed: the packed table does not give back its bytes; leave it as CSV")
    return {packed_name(name): content for name, content in packed.items()}


def unpacked(folder: Path, name: str) -> bytes:
    """Return the CSV file of a store that a packed table stands for, byte for byte.

    Raises OSError or ValueError if a packed table cannot be read or is damaged.
    """
    place = folder / packed_name(name)
    rows = folder / packed_name(_ROWS)
    return _cached(name, place, _stamp(place), rows, _stamp(rows))


def _stamp(path: Path) -> tuple[int, int]:
    facts = path.stat()
    return facts.st_mtime_ns, facts.st_size


@functools.lru_cache(maxsize=4)
def _cached(name: str, place: Path, _: tuple[int, int], rows: Path, __: tuple[int, int]) -> bytes:
    """Return a table that was read a moment ago, or read it: digests, rows and points are asked for one by one."""
    try:
        return _text(name, place.read_bytes(), rows.read_bytes())
    except (KeyError, IndexError, TypeError) as error:
        raise ValueError(f"{place} is no packed table of gasmeter ({error!r})") from error


def _cells(content: bytes) -> Columns:
    lines = csv.reader(io.StringIO(content.decode(), newline=""))
    heads = next(lines)
    columns = list(map(list, zip(*lines, strict=True))) or [[] for _ in heads]
    return dict(zip(heads, columns, strict=True))


def _without_names(rows: Columns, points: Mapping[str, Mapping[str, Any]]) -> Columns:
    """Leave out the names that follow from what is hashed, and the statistics of one block."""
    found: Columns = {**rows, **{name: [] for name in _HASHED}}
    heads = list(rows)
    kept: list[str | None] = []
    for cells in zip(*rows.values(), strict=True):
        row = dict(zip(heads, map(str, cells), strict=True))
        facts = points.get(row[_NAME])
        values = [str(facts[name]) for name in _HASHED] if facts else ["", "", ""]
        known = bool(facts) and point_name(row, *values) == row[_NAME]
        kept.append(None if known else row[_NAME])
        for name, value in zip(_HASHED, values, strict=True):
            found[name].append(value if known else None)
    found[_NAME] = kept
    for name in _SAME:
        if name in rows:
            found[name] = [None if one == value else one for one, value in zip(rows[name], rows["value"], strict=True)]
    found["value"], found[_PICOSECONDS], found[_STEPS] = _without_values(found, rows["value"])
    return found


def _without_values(rows: Columns, values: Sequence[str | None]) -> tuple[list[str | None], ...]:
    """Return the values that do not follow, and of times the whole picoseconds and steps to the next float."""
    kept = list(values)
    whole: list[str | None] = [None] * len(values)
    steps = list(whole)
    for at, (unit, text, iterations) in enumerate(zip(rows["unit"], values, rows["iterations"], strict=True)):
        if at and _bandwidth(rows, at, values[at - 1]) == text:
            kept[at] = None
        elif unit == "ns" and text and iterations and iterations.isdigit():
            count = round(float(text) * 1000 * int(iterations))
            apart = _between(_time(count, iterations), float(text)) if 0 < count < _MOST else _FAR
            if abs(apart) < _FAR and _shifted(_time(count, iterations), apart) == text:
                kept[at], whole[at], steps[at] = None, str(count), str(apart)
    return kept, whole, steps


def _time(picoseconds: int, iterations: str) -> float:
    return picoseconds / int(iterations) / 1000


def _between(one: float, other: float) -> int:
    """Return how many floats lie from one to another."""
    first, last = (struct.unpack("<q", struct.pack("<d", each))[0] for each in (one, other))
    return int(last - first)


def _shifted(value: float, steps: int) -> str:
    bits = struct.unpack("<q", struct.pack("<d", value))[0]
    return repr(struct.unpack("<d", struct.pack("<q", bits + steps))[0])


def _bandwidth(rows: Columns, at: int, before: str | None) -> str | None:
    """Return what a rate says of the bandwidth in the row behind it; None if these are no such rows."""
    names, metrics, sizes = rows[_NAME], rows["metric"], rows["size_bytes"]
    if metrics[at] == "rate" and metrics[at - 1] == "bandwidth" and names[at] == names[at - 1] and before:
        return _quotient(before, sizes[at])
    return None


def _quotient(value: str | None, by: str | None) -> str | None:
    try:
        return repr(float(value or "") / float(by or ""))
    except (ValueError, ZeroDivisionError):
        return None


def _without_points(table: Columns, names: Sequence[str], rows: Columns) -> Columns:
    """Put a point's number in place of its name and of what results.csv says of it."""
    number = {name: at for at, name in enumerate(names)}
    found: Columns = {_POINT: [str(number[one]) if one in number else None for one in map(str, table[_NAME])]}
    found |= table
    first = _first(rows)
    where = [first[int(one)] if one is not None else None for one in found[_POINT]]
    found[_NAME] = [None if at is not None else name for at, name in zip(where, table[_NAME], strict=True)]
    for name in _REPEATED:
        if name in table and name in rows:
            found[name] = [
                None if at is not None and rows[name][at] == cell else cell
                for at, cell in zip(where, table[name], strict=True)
            ]
    if _PER in table:
        shares = zip(table[_PER], table["value"], table["operations"], strict=True)
        found[_PER] = [None if share == _quotient(count, by) else share for share, count, by in shares]
    return found


def _first(rows: Columns) -> list[int]:
    """Return where the first row of each point stands, by the point's number."""
    first: dict[str, int] = {}
    for at, name in enumerate(map(str, rows[_NAME])):
        first.setdefault(name, at)
    return list(first.values())


def _parquet(columns: Columns) -> bytes:
    """Return columns as a file: numbers where their text is the shortest, else text; none of a column that follows."""
    import pyarrow as pa  # noqa: PLC0415 - loads a large library
    import pyarrow.parquet as pq  # noqa: PLC0415

    arrays: dict[str, pa.Array] = {}
    heads: dict[str, str] = {}
    for name, cells in columns.items():
        kind = _kind(cells)
        heads[name] = kind
        if kind == "real":
            arrays[name] = pa.array([None if one is None else float(one or "nan") for one in cells], pa.float64())
        elif kind == "whole":
            arrays[name] = pa.array([None if one is None else int(one) for one in cells], pa.int64())
        elif kind == "text":
            arrays[name] = pa.array(cells, pa.string())
    facts = json.dumps({"version": _VERSION, "rows": len(next(iter(columns.values()))), "columns": heads})
    table = pa.table(arrays).replace_schema_metadata({_FORMAT: facts})
    buffer = io.BytesIO()
    encodings = {name: _smallest(table, name, heads[name]) for name in arrays}
    dictionary = [name for name, chosen in encodings.items() if not chosen]
    encodings = {name: chosen for name, chosen in encodings.items() if chosen}
    pq.write_table(table, buffer, **_WRITTEN, use_dictionary=dictionary, column_encoding=encodings)
    return buffer.getvalue()


def _smallest(table: pa.Table, name: str, kind: str) -> str:
    """Return the encoding of a column that takes the fewest bytes; empty for a dictionary."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    sizes: dict[str, int] = {}
    for encoding in _ENCODINGS[kind]:
        buffer = io.BytesIO()
        given: dict[str, Any] = {"column_encoding": {name: encoding}} if encoding else {}
        pq.write_table(table.select([name]), buffer, **_WRITTEN, use_dictionary=not encoding, **given)
        sizes[encoding] = buffer.tell()
    return min(sizes, key=lambda encoding: sizes[encoding])


def _kind(cells: Iterable[str | None]) -> str:
    """Return how a column is kept: ``none``, ``whole``, ``real`` or ``text``."""
    different = {one for one in cells if one is not None}
    if not different:
        return "none"
    for kind, made in (("whole", _whole), ("real", _real)):
        if all(made(one) == one for one in different):
            return kind
    return "text"


def _whole(cell: str) -> str:
    return str(int(cell)) if cell.lstrip("-").isdigit() and len(cell) < 18 else "?"


def _real(cell: str) -> str:
    try:
        return repr(float(cell)) if cell else ""
    except ValueError:
        return "?"


def _text(name: str, content: bytes, rows: bytes) -> bytes:
    """Return the CSV file that a packed table stands for."""
    table, heads = _columns(content)
    if name == _ROWS:
        return _csv(_with_names(table, heads), [one for one in heads if one not in {*_HASHED, _PICOSECONDS, _STEPS}])
    own, whole = _columns(rows)
    whole_rows = _with_names(own, whole)
    return _csv(_with_points(table, whole_rows), [one for one in heads if one != _POINT])


def _columns(content: bytes) -> tuple[Columns, list[str]]:
    table = read_parquet(content)
    facts = json.loads((table.schema.metadata or {})[_FORMAT.encode()])
    if facts["version"] != _VERSION:
        raise ValueError(f"packed table of version {facts['version']}; allowed: {_VERSION}")
    columns: Columns = {}
    for name, kind in facts["columns"].items():
        if kind == "none":
            columns[name] = [None] * facts["rows"]
            continue
        made: Callable[[Any], str] = _of_real if kind == "real" else str
        columns[name] = [None if one is None else made(one) for one in table[name].to_pylist()]
    return columns, list(facts["columns"])


def _of_real(value: float) -> str:
    return "" if value != value else repr(value)  # noqa: PLR0124 - not a number


def _with_names(table: Columns, heads: Sequence[str]) -> Columns:
    found = {name: table[name] for name in heads}
    plain = [name for name in heads if name not in {*_HASHED, _NAME, "value", *_SAME}]
    names: list[str | None] = []
    for at, name in enumerate(table[_NAME]):
        if name is None:
            row = {one: table[one][at] or "" for one in plain}
            name = point_name(row, *(table[one][at] or "" for one in _HASHED))  # noqa: PLW2901
        names.append(name)
    found[_NAME] = names
    found["value"] = _with_values(found)
    for name in _SAME:
        if name in table:
            found[name] = [
                value if one is None else one for one, value in zip(table[name], found["value"], strict=True)
            ]
    return found


def _with_values(rows: Columns) -> list[str | None]:
    values = list(rows["value"])
    times = zip(rows[_PICOSECONDS], rows[_STEPS], rows["iterations"], strict=True)
    for at, (count, steps, iterations) in enumerate(times):
        if count is not None:
            values[at] = _shifted(_time(int(count), str(iterations)), int(str(steps)))
        elif values[at] is None:
            values[at] = _bandwidth(rows, at, values[at - 1])
    return values


def _with_points(table: Columns, rows: Columns) -> Columns:
    first = _first(rows)
    where = [first[int(one)] if one is not None else None for one in table[_POINT]]
    found = dict(table)
    for name in (_NAME, *_REPEATED):
        if name in table and name in rows:
            found[name] = [
                rows[name][at] if cell is None and at is not None else cell
                for at, cell in zip(where, table[name], strict=True)
            ]
    if _PER in table:
        shares = zip(table[_PER], table["value"], table["operations"], strict=True)
        found[_PER] = [_quotient(count, by) if share is None else share for share, count, by in shares]
    return found


def _csv(table: Columns, heads: Sequence[str]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(zip(*(table[name] for name in heads), strict=True))
    return text.getvalue().encode()
