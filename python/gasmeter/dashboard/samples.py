"""Blocks and counters behind the numbers of a history: those of a few runs, read from their stores."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gasmeter.dashboard.history import Floats, History
from gasmeter.stores.store import Blocks as Stored
from gasmeter.stores.store import read_blocks

__all__ = ["MOST_BLOCKS", "Blocks", "Counted", "read_counters", "read_samples"]

MOST_BLOCKS = 400
"""Most blocks that a page shows, at equal distances."""


Counted = dict[str, tuple[int, float | None]]
"""For one point, by the name of a counter that is not 0: the value, and the value per operation."""


@dataclass(frozen=True)
class Blocks:
    """The blocks of one point of a history."""

    values: Floats  # in the unit of the series, in the order measured
    # False for blocks left out of comparisons since the cores had moved
    kept: np.ndarray[tuple[int], np.dtype[np.bool_]]
    measured: int  # number of blocks before thinning


def read_samples(history: History, wanted: Sequence[Sequence[int]], notes: list[str]) -> dict[tuple[int, int], Blocks]:
    """Return blocks from their stores, by number of the series and position in it.

    `wanted` holds positions for each series; `notes` gets a line for each store with unreadable samples.
    """
    blocks = {}
    by_run = _by_run(history, wanted)
    for run, names in sorted(by_run.items()):
        folder = history.runs[run].folder
        try:
            for stored in read_blocks(folder):
                for owner in names.get((stored.run_id, stored.metric), ()):
                    blocks[owner] = _thinned(stored)
        except (OSError, ValueError, KeyError, TypeError) as error:
            notes.append(f"{folder}: samples cannot be read and are left out ({str(error).splitlines()[0][:120]})")
    return blocks


def read_counters(
    history: History, wanted: Sequence[Sequence[int]], notes: list[str]
) -> dict[tuple[int, int], Counted]:
    """Return counters from their stores, by number of the series and position in it; as `read_samples`."""
    counted: dict[tuple[int, int], Counted] = {}
    for run, names in sorted(_by_run(history, wanted).items()):
        path = history.runs[run].folder / "counters.csv"
        if not path.exists():
            continue
        points: dict[str, Counted] = {}
        try:
            with path.open(encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    if value := int(row["value"]):
                        each = float(row["per_operation"]) if row["per_operation"] else None
                        points.setdefault(row["run_id"], {})[row["counter"]] = (value, each)
        except (OSError, ValueError, KeyError, TypeError) as error:
            notes.append(f"{path}: counters cannot be read and are left out ({str(error).splitlines()[0][:120]})")
            continue
        for (point, _), owners in names.items():
            counted |= {owner: points[point] for owner in owners if point in points}
    return counted


def _by_run(
    history: History, wanted: Sequence[Sequence[int]]
) -> dict[int, dict[tuple[str, str], list[tuple[int, int]]]]:
    """Return, by run, the series that need the samples of a point and metric."""
    by_run: dict[int, dict[tuple[str, str], list[tuple[int, int]]]] = {}
    for number, positions in enumerate(wanted):
        series = history.series[number]
        if series.fields["reference"]:  # a comparison comes from the samples of two points
            continue
        for position in positions:
            names = by_run.setdefault(series.at[position], {})
            names.setdefault((series.run_ids[position], series.fields["metric"]), []).append((number, position))
    return by_run


def _thinned(stored: Stored) -> Blocks:
    step = -(-stored.values.size // MOST_BLOCKS) or 1
    return Blocks(stored.values[::step], stored.kept[::step], int(stored.values.size))
