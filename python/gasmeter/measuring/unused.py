"""Machine numbers that the user changed, but no job depended on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gasmeter.machines.machine import TOPOLOGY, Machine
from gasmeter.rows.record import Record
from gasmeter.sweeps.installations import machine_of
from gasmeter.sweeps.point import Group

__all__ = ["unused_overrides"]


def unused_overrides(groups: Iterable[Group], done: Mapping[str, Record]) -> list[str]:
    """Return a line for each changed machine number that made no difference to any of its points.

    A number that serves only to derive others counts as used if one of them is.
    """
    points: dict[str, int] = {}
    never: dict[str, dict[str, str]] = {}
    for group in groups:
        record = done.get(group.id)
        ran = {row["run_id"] for row in record.rows} if record is not None else set()
        for point in group.points:
            machine = machine_of(point) if "=" in point.machine and point.id in ran else None
            if record is None or machine is None:
                continue
            left = _unused(machine, set(record.unused.get(point.id, ())))
            so_far = never.get(point.machine, left)
            points[point.machine] = points.get(point.machine, 0) + 1
            never[point.machine] = {key: text for key, text in so_far.items() if key in left}
    return [
        f"nothing used {key}={text}: {_points_text(points[label])} of machine {label} came to the same picoseconds"
        " as without it"
        for label, left in never.items()
        for key, text in left.items()
    ]


def _unused(machine: Machine, unused: set[str]) -> dict[str, str]:
    """Return the overrides that a job has not depended on; a topology counts as used, as it places every rank."""
    followers = [number for number in machine.numbers if number.origin == "derived"]
    return {
        key: text
        for key, text in machine.overrides().items()
        if key != TOPOLOGY and {key, *(number.key for number in followers if number.of == key)} <= unused
    }


def _points_text(points: int) -> str:
    return "the one point" if points == 1 else f"all {points} points"
