"""Stores as a history for Apache Otava, which finds where series change."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

from gasmeter.errors import UsageError
from gasmeter.exchange.writing import benchmark_name, stored
from gasmeter.rows.direction import better

__all__ = ["to_otava"]

_TABLE, _CONFIGURATION = "gasmeter.csv", "otava.yaml"
_TIME, _REVISION = "time", "revision"
_DIRECTIONS = {"smaller": -1, "bigger": 1}


def to_otava(folders: Sequence[str | Path]) -> dict[str, str]:
    """Return ``gasmeter.csv`` for Otava's importer, a line per store by date, and ``otava.yaml`` with its columns.

    Otava takes no gaps: only series of every store are written, none without a better direction, and the configuration
    counts the omissions. Raises UsageError for a folder without rows, two stores of one date, or no common series.
    """
    lines: dict[str, tuple[str, dict[str, float]]] = {}
    directions: dict[str, int] = {}
    for folder in folders:
        rows, run, _ = stored(folder)
        time = str(run.get("started", ""))
        if not time or time in lines:
            raise UsageError(
                f"{folder} {'has the date of another store' if time else 'does not say when it was run'}; allowed:"
                " stores of different dates", str(folder),
            )  # fmt: skip
        values: dict[str, float] = {}
        for row in rows:
            way = better(row["metric"], row["unit"])
            if way != "neither":
                values[benchmark_name(row)] = row["value"]
                directions[benchmark_name(row)] = _DIRECTIONS[way]
        lines[time] = (str(run.get("git") or ""), values)
    everywhere = [name for name in directions if all(name in values for _, values in lines.values())]
    if not everywhere:
        raise UsageError(f"no series is in all of {len(lines)} stores; allowed: stores of one experiment")
    return {
        _TABLE: _table(lines, everywhere),
        _CONFIGURATION: _configuration(everywhere, directions, len(directions) - len(everywhere)),
    }


def _table(lines: dict[str, tuple[str, dict[str, float]]], names: Sequence[str]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([_TIME, _REVISION, *names])
    for time, (revision, values) in sorted(lines.items()):
        writer.writerow([time, revision, *(repr(values[name]) for name in names)])
    return text.getvalue()


def _configuration(names: Sequence[str], directions: dict[str, int], left_out: int) -> str:
    metrics = {name: {"column": name, "direction": directions[name]} for name in names}
    test = {"type": "csv", "file": _TABLE, "time_column": _TIME, "attributes": [_REVISION], "metrics": metrics}
    header = f"# {len(names)} series that every run has; {left_out} that some run has not are left out\n"
    return header + json.dumps({"tests": {"gasmeter": test}}, indent=1) + "\n"  # JSON is YAML
