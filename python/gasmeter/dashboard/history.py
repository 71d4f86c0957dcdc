"""Stores in the order of their dates, and the values of each series in each of them.

The reader needs run.json and results.csv only. Every store has them, even one committed without its journal or left
behind by a kill.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from gasmeter.errors import UsageError
from gasmeter.machines.named import is_draw
from gasmeter.rows.verified import Verified
from gasmeter.stores.files import ROWS, RUN, check_files, is_there
from gasmeter.stores.store import read_run, read_table

__all__ = ["IDENTITY", "NUMBERS", "Floats", "History", "Run", "Series", "find_stores", "read_history"]

IDENTITY = (
    "experiment", "kind", "kernel", "op", "variant", "conduit", "network", "machine", "topology", "placement", "nodes",
    "ranks", "size_bytes", "options", "metric", "unit", "reference", "semantics", "repetition", "seed",
)  # fmt: skip
"""Columns in which two rows of one series agree; for a measured one the host agrees too."""
NUMBERS = ("value", "ci_low", "ci_high", "min", "p99", "n", "host_state_ns")
"""Columns of numbers that a history keeps."""

_MACHINE = IDENTITY.index("machine")
_STATED = ("verified", "oversubscribed", "label", "run_id")
_VERIFIED = {str(member): member for member in Verified}

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


@dataclass(frozen=True)
class Run:
    """A store of a history."""

    folder: Path
    name: str  # name of the folder
    started: str  # ISO 8601 start of its last part; empty if unknown
    revision: str  # revision of the source, several joined by a comma after a resumed run; may be empty
    experiment: str  # as in run.json
    state: str  # ``complete``, ``interrupted``, ``failed`` or ``running``
    command: str  # as in run.json
    host: dict[str, Any]  # facts of the machine; empty if unknown
    versions: dict[str, str]  # versions of the software
    errors: tuple[str, ...]  # points that did not verify
    notes: tuple[str, ...]  # omissions

    @property
    def host_name(self) -> str:
        """Identity of a machine: processor and cores, or the name if these are unknown."""
        processor = str(self.host.get("processor") or "")
        cores = self.host.get("logical_cores")
        if processor:
            return f"{processor}, {cores} cores" if cores else processor
        return str(self.host.get("name") or "host not stated")


@dataclass
class Series:
    """A quantity over the runs that have it."""

    fields: dict[str, str]  # `IDENTITY` and ``host`` (empty for modelled ones), as text
    at: list[int] = field(default_factory=list)  # indices of runs, ascending
    numbers: dict[str, Floats] = field(default_factory=dict)  # by the names of `NUMBERS`; NaN if missing
    verified: list[Verified] = field(default_factory=list)  # by run
    oversubscribed: list[bool] = field(default_factory=list)  # by run
    label: str = ""  # newest row's label: ``measured``, ``predicted``, ``calibrated``, or the measuring tool
    run_ids: list[str] = field(default_factory=list)  # name of the point in each run, which finds its samples

    @property
    def modelled(self) -> bool:
        """Whether its numbers are exact ones of virtual time."""
        return self.fields["kind"] == "modelled"


@dataclass
class History:
    """Runs from the oldest to the newest, and their series."""

    runs: list[Run]  # in order
    series: list[Series]  # sorted by identity
    notes: list[str]  # omissions while reading, one line each


def find_stores(places: Sequence[str | Path]) -> list[Path]:
    """Return the stores in folders or below them, each once; raise UsageError for a place without any."""
    folders: dict[Path, Path] = {}
    for given in places:
        place = Path(given)
        if not place.is_dir():
            raise UsageError(
                f"{place} is no folder; allowed: a folder written by `gasmeter run`, or above such", str(place)
            )
        if is_there(place, RUN):
            stores = [place]
        else:
            stores = sorted({path.parent for path in place.rglob(f"{RUN}*") if is_there(path.parent, ROWS)})
        if not stores:
            raise UsageError(
                f"{place} holds no store (run.json beside results.csv); allowed: a folder written by `gasmeter run`, or"
                " above such", str(place),
            )  # fmt: skip
        for store in stores:
            folders.setdefault(store.resolve(), store)
    return list(folders.values())


def read_history(places: Sequence[str | Path]) -> History:
    """Return the history in all stores, in the order of their dates.

    Rows on draws of estimates, thousands in a reproduction, are samples of a range: they are left out and counted.
    Raises UsageError for a newer schema, a damaged file, or no rows at all.
    """
    runs = sorted((_run(folder) for folder in find_stores(places)), key=_order)
    notes: list[str] = []
    gathered: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    at: dict[tuple[str, ...], list[int]] = {}
    for index, run in enumerate(runs):
        seen: set[tuple[str, ...]] = set()
        again = drawn = 0
        for cells in _rows(run, notes):
            if is_draw(cells[_MACHINE]):
                drawn += 1
                continue
            key = cells[: len(IDENTITY)]
            key = (*key, "" if key[1] in {"modelled", "published"} else run.host_name)
            if key in seen:
                again += 1
                continue
            seen.add(key)
            gathered.setdefault(key, []).append(cells[len(IDENTITY) :])
            at.setdefault(key, []).append(index)
        if again:
            notes.append(f"{run.folder}: {again} quantities measured again for another comparison; the first is shown")
        if drawn:
            notes.append(f"{run.folder}: {drawn} rows on draws of machines' estimates are left out")
        if not seen:
            notes.append(f"{run.folder}: no rows ({run.state})")
    if not gathered:
        raise UsageError(f"no rows in {', '.join(str(place) for place in places)}; allowed: stores with rows")
    series = [_series(key, at[key], rows) for key, rows in gathered.items()]
    return History(runs, sorted(series, key=_series_order), notes)


def _order(run: Run) -> tuple[float, str]:
    try:
        return datetime.datetime.fromisoformat(run.started).timestamp(), str(run.folder)
    except ValueError:
        return 0.0, str(run.folder)


def _run(folder: Path) -> Run:
    content = read_run(folder) or {}
    check_files(folder, content, (ROWS,))
    parts = list(_parts(content.get("runs") or []))
    last = parts[-1] if parts else {}
    revisions = dict.fromkeys(str(part["git"]) for part in parts if part.get("git"))
    return Run(
        folder=folder,
        name=folder.resolve().name,
        started=str(last.get("started") or ""),
        revision=", ".join(revisions),
        experiment=str(content.get("experiment") or ""),
        state=str(content.get("state") or "unknown"),
        command=str(last.get("command") or ""),
        host=dict(last.get("host") or {}),
        versions={str(key): str(value) for key, value in dict(last.get("versions") or {}).items()},
        errors=tuple(map(str, content.get("errors") or ())),
        notes=tuple(map(str, content.get("notes") or ())),
    )


def _parts(runs: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the parts of a run; a merged store holds those of its sources."""
    for part in runs:
        yield from _parts(part["runs"]) if "merged_from" in part and part.get("runs") else [part]


def _rows(run: Run, notes: list[str]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a store: identity, numbers, statements; without a cut-off last line."""
    table = read_table(run.folder)
    if table.lost:
        notes.append(f"{table.path}: the last line is cut off and left out ({table.lost[:40]}…)")
    yield from table.pick((*IDENTITY, *NUMBERS, *_STATED))


def _series(key: tuple[str, ...], at: list[int], rows: list[tuple[str, ...]]) -> Series:
    columns = list(zip(*rows, strict=True))
    verified, oversubscribed, labels, run_ids = columns[len(NUMBERS) :]
    return Series(
        fields=dict(zip((*IDENTITY, "host"), key, strict=True)),
        at=at,
        numbers={name: _floats(cells) for name, cells in zip(NUMBERS, columns, strict=False)},
        verified=[_VERIFIED.get(cell, Verified.FALSE) for cell in verified],
        oversubscribed=[cell == "true" for cell in oversubscribed],
        label=labels[-1],
        run_ids=list(run_ids),
    )


def _floats(cells: Sequence[str]) -> Floats:
    values = np.fromiter((_float(cell) for cell in cells), dtype=np.float64, count=len(cells))
    return np.where(np.isfinite(values), values, math.nan)


def _float(cell: str) -> float:
    try:
        return float(cell or "nan")
    except ValueError:
        return math.nan


def _series_order(series: Series) -> tuple[Any, ...]:
    fields = series.fields
    numbers = (int(_float(fields[name]) or 0) if fields[name] else 0 for name in ("ranks", "size_bytes"))
    words = chain(
        (fields[name] for name in ("kind", "kernel", "metric", "op", "variant", "conduit")), (fields["reference"],)
    )
    return (
        *words,
        *numbers,
        *(fields[name] for name in ("machine", "topology", "placement", "options", "host")),
        *fields.values(),
    )
