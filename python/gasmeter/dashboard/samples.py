"""Blocks behind the numbers of a history: those of a few runs, read from their stores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gasmeter.dashboard.history import Floats, History
from gasmeter.journal import read_journal

__all__ = ["MOST_BLOCKS", "Blocks", "read_samples"]

MOST_BLOCKS = 400
"""Of more blocks than these, a page shows as many at equal distances."""


@dataclass(frozen=True)
class Blocks:
    """The blocks of one point of a history.

    Attributes
    ----------
    values : numpy.ndarray
        In the unit of the series, in the order measured.
    kept : numpy.ndarray of bool
        False for those that were left out of comparisons since the cores had moved.
    measured : int
        How many blocks there were before thinning.
    """

    values: Floats
    kept: np.ndarray[tuple[int], np.dtype[np.bool_]]
    measured: int


def read_samples(history: History, wanted: Sequence[Sequence[int]], notes: list[str]) -> dict[tuple[int, int], Blocks]:
    """Read blocks from the stores that have them.

    Parameters
    ----------
    history : History
        Runs and series.
    wanted : sequence of sequence of int
        For each series positions in it.
    notes : list of str
        Takes a line for each store whose samples cannot be read.

    Returns
    -------
    dict of (int, int) to Blocks
        By number of the series and position in it.
    """
    by_run: dict[int, dict[tuple[str, str], list[tuple[int, int]]]] = {}
    for number, positions in enumerate(wanted):
        series = history.series[number]
        if series.fields["reference"]:  # comparisons are made of the samples of two points
            continue
        for position in positions:
            names = by_run.setdefault(series.at[position], {})
            names.setdefault((series.run_ids[position], series.fields["metric"]), []).append((number, position))
    found = {}
    for run, names in sorted(by_run.items()):
        folder = history.runs[run].folder
        try:
            for name, values, kept in _stored(folder):
                for owner in names.get(name, ()):
                    found[owner] = _thinned(values, kept)
        except (OSError, ValueError, KeyError, TypeError) as error:
            notes.append(f"{folder}: samples cannot be read and are left out ({str(error).splitlines()[0][:120]})")
    return found


def _thinned(values: Floats, kept: Any) -> Blocks:
    step = -(-values.size // MOST_BLOCKS)
    return Blocks(values[:: step or 1], np.asarray(kept, dtype=bool)[:: step or 1], int(values.size))


def _stored(folder: Path) -> Iterator[tuple[tuple[str, str], Floats, Any]]:
    """Yield point and metric, values and which were kept."""
    path = folder / "samples.parquet"
    if path.exists():
        import pyarrow.parquet as pq  # noqa: PLC0415 - a dashboard without samples does without

        table = pq.read_table(path, columns=["run_id", "metric", "value", "kept"])
        ids, metrics = (np.asarray(table[name].to_pylist(), dtype=object) for name in ("run_id", "metric"))
        values = table["value"].to_numpy().astype(np.float64)
        kept = table["kept"].to_numpy()
        if not ids.size:
            return
        starts = np.flatnonzero(np.r_[True, (ids[1:] != ids[:-1]) | (metrics[1:] != metrics[:-1])])
        for start, end in zip(starts, [*starts[1:], ids.size], strict=True):
            yield (str(ids[start]), str(metrics[start])), values[start:end], kept[start:end]
        return
    for entry in read_journal(folder / "journal.jsonl"):
        for columns in entry.get("samples", []):
            values = np.array([np.nan if value is None else value for value in columns["value"]], dtype=np.float64)
            yield (columns["run_id"], columns["metric"]), values, columns["kept"]
