"""Points of a machine's check rows, and their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gasmeter.errors import UsageError
from gasmeter.machines.check_row import Check, CheckPoint, in_si
from gasmeter.machines.checks import checks
from gasmeter.machines.machine import Machine
from gasmeter.machines.named import machine
from gasmeter.sweeps.point import Point
from gasmeter.sweeps.series import Series
from gasmeter.sweeps.sweep import plan_series

__all__ = ["check_points", "checks_of", "modelled", "point_of"]

_SECONDS = 0.01
"""Estimated seconds of a point, for progress."""


def checks_of(name: str) -> tuple[Check, ...]:
    """Return the check rows of a machine, in order; empty for a machine without measurements."""
    return tuple(entry for entry in checks().checks if entry.machine == name)


def check_points(installed: str | Machine) -> list[Series]:
    """Return a series for each point of a machine's check rows; none where arithmetic is enough.

    Raises UsageError for an unknown machine.
    """
    machine_of_label = machine(installed)
    wanted: dict[str, Series] = {}
    for entry in checks_of(machine_of_label.name):
        for point in entry.points.values():
            series = _series(point, machine_of_label)
            wanted.setdefault(series.model_dump_json(), series)
    return list(wanted.values())


def point_of(point: CheckPoint, installed: Machine) -> Point:
    """Return one point of a check row as a resolved point of a sweep."""
    return plan_series(_series(point, installed))[0].points[0]


def _series(point: CheckPoint, installed: Machine) -> Series:
    return Series(
        kernel=point.kernel,
        op=(point.op,),
        conduit=(point.conduit,),
        sizes=None if point.size is None else (point.size,),
        ranks=(point.ranks,),
        placement=(point.placement,),
        options=dict(point.options),
        machine=(installed.label,),
        iterations=point.iterations,
        blocks=1,
        time_s=_SECONDS,
    )


def modelled(rows: Iterable[Mapping[str, Any]], installed: str | Machine) -> dict[str, float]:
    """Return a machine's values for its check rows, in SI units by hardware id.

    `rows` hold those of `check_points`, from a result or results.csv. Raises UsageError if a row or a parameter is
    missing.
    """
    machine_of_label = machine(installed)
    by_point: dict[tuple[object, ...], Mapping[str, Any]] = {}
    for row in rows:
        if (
            row["machine"] == machine_of_label.column
            and row["topology"] == machine_of_label.topology
            and not row["reference"]
        ):
            key = (
                row["kernel"], row["op"], row["conduit"], row["metric"], int(row["size_bytes"]), int(row["ranks"]),
                row["placement"], row["options"],
            )  # fmt: skip
            by_point.setdefault(key, row)
    parameters = machine_of_label.values()
    return {
        entry.hardware: entry.value(
            {name: _value(point, by_point, entry, machine_of_label) for name, point in entry.points.items()}, parameters
        )
        for entry in checks_of(machine_of_label.name)
    }


def _value(
    point: CheckPoint, rows: Mapping[tuple[object, ...], Mapping[str, Any]], entry: Check, installed: Machine
) -> float:
    """Return the value of a point in SI units."""
    options = ";".join(f"{key}={value}" for key, value in sorted(point.options.items()))
    key = (
        point.kernel, point.op, point.conduit, point.metric, point.size or 0, point.ranks, point.placement, options,
    )  # fmt: skip
    if key not in rows:
        raise UsageError(
            f"machine {installed.label}: no row of {point.kernel} {point.op} on {point.conduit} for check row"
            f" {entry.hardware}; run what gasmeter.checking.check_points says",
            entry.hardware,
        )
    return float(rows[key]["value"]) * in_si(rows[key]["unit"])[1]
