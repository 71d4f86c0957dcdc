"""Copy rows of a modelled point to another whose machine differs only in numbers that the job did not use.

A job in virtual time is a program without chance: as long as every number it reads is the same, it gives the same
picoseconds. The core reports which numbers of the machine a job has not depended on, and a variant of the machine in
one of these need not run. The variant is checked all the same, so that its machine refuses whatever it would refuse.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gasmeter.errors import GasmeterError
from gasmeter.machines.machine import Machine
from gasmeter.measuring.sessions import ModelSession
from gasmeter.rows.record import Record
from gasmeter.sweeps.installations import machine_of
from gasmeter.sweeps.point import Group, Point

__all__ = ["taken_over"]


def taken_over(group: Group, donor: Group, record: Record) -> Record | None:
    """Return a donor's rows and samples under a group's names, or None if the group has to run.

    The group has to run if anything but unused machine numbers differs, if the donor did not verify or was refused, or
    if the group's machine is refused.
    """
    if len(group.points) != 1 or len(donor.points) != 1 or not record.rows or record.errors:
        return None
    point, other = group.points[0], donor.points[0]
    machine, base = machine_of(point), machine_of(other)
    if machine is None or base is None or _apart_from_machine(point) != _apart_from_machine(other):
        return None
    unused = set(record.unused.get(other.id, []))
    if not unused or machine.name != base.name or not _moved(machine, base) <= unused or _is_refused(point):
        return None
    names = {"run_id": point.id}
    return replace(
        record,
        group=group.id,
        rows=[{**row, **names, "machine": point.machine} for row in record.rows],
        samples=[{**row, **names} for row in record.samples],
        links=[],
        counters=[{**row, **names, "machine": point.machine} for row in record.counters],
        resolved={point.id: record.resolved[other.id]} if other.id in record.resolved else {},
        unused={point.id: list(record.unused[other.id])},
        seconds=0.0,
        taken_from=record.group,
    )


def _apart_from_machine(point: Point) -> dict[str, Any]:
    return point.model_dump(exclude={"machine", "machine_digest"})


def _moved(machine: Machine, base: Machine) -> set[str]:
    """Return the numbers in which two variants of a machine differ."""
    numbers, others = machine.values(), base.values()
    return {key for key in {**numbers, **others} if numbers.get(key) != others.get(key)}


def _is_refused(point: Point) -> bool:
    try:
        ModelSession.check(point)
    except GasmeterError:
        return True
    return False
