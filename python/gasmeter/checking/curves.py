"""Published curves of hardware, and the modelled lines laid over them: published/curves.*."""

from __future__ import annotations

import csv
import functools
import io
import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gasmeter.catalogue import declared
from gasmeter.errors import UsageError, first_mistake, unknown
from gasmeter.machines.arithmetic import Arithmetic
from gasmeter.machines.check_row import in_si
from gasmeter.machines.folder import installed, lacking, network_of
from gasmeter.machines.hardware import TABLE, facts
from gasmeter.machines.machine import Machine

__all__ = ["SIZE", "Curve", "Curves", "Group", "Line", "LinePart", "curves", "read_curves"]

SIZE = "size"
"""Name of a point's bytes in the expressions of lines."""

_FOLDER = Path(__file__).resolve().parent.parent / "published"
_COLUMNS = ["curve", "size_bytes", "value"]


class _Said(BaseModel):
    """Fields of a table in curves.toml."""

    model_config = ConfigDict(frozen=True, extra="forbid")


_Table = TypeVar("_Table", bound=_Said)


class Group(_Said):
    """Curves of one quantity in one picture."""

    name: str = Field(pattern=r"^[a-z0-9-]+$")  # name of the picture's file
    title: str  # above it
    quantity: str
    unit: str  # unit of its values


class Curve(_Said):
    """A published curve of measurements."""

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    group: str  # name of its group
    label: str  # in legends
    network: str  # modelled network of these cards
    processor: str  # as published
    machines: tuple[str, ...]  # installed machines with this processor; may be empty
    source: str = Field(min_length=1)  # publication
    read: str = Field(min_length=1)  # how the values were read from the source, and how exactly
    hardware: tuple[str, ...]  # rows of published/hardware.csv about its points or from the same text
    note: str  # further remarks for readers
    points: tuple[tuple[int, float], ...] = ()  # bytes and value in the unit of the group, ascending

    def inputs(self, installed: Machine) -> dict[str, tuple[str, ...]]:
        """Return a machine's parameters that rest on this curve's text, with rows of hardware.csv.

        With any, the curve is no independent test.
        """
        resting = {
            number.key: tuple(row for row in number.hardware if row in self.hardware) for number in installed.numbers
        }
        return {key: rows for key, rows in resting.items() if rows}


class LinePart(_Said):
    """Points of a line within a range of sizes."""

    op: str  # operation of the kernel
    first: int = Field(alias="from", ge=0)  # bytes, included
    last: int | None = Field(default=None, alias="to", ge=0)  # bytes, included; None for no limit
    iterations: int = Field(ge=1)  # operations of the one block

    def has(self, size: int) -> bool:
        """Tell whether this part runs points of so many bytes."""
        return self.first <= size <= (math.inf if self.last is None else self.last)


class Line(_Said):
    """A modelled line that is laid over curves."""

    label: str  # in legends
    over: tuple[str, ...] = Field(min_length=1)  # ids of curves
    kind: Literal["equals", "at_least", "at_most"]  # relation to the published value: the same benchmark, or a bound
    kernel: str
    conduit: str
    metric: str  # metric of the row that counts
    options: dict[str, str] = Field(default_factory=dict)  # options of kernel and conduit
    modelled: str  # arithmetic over the metric and `SIZE`, in SI units
    parts: tuple[LinePart, ...] = Field(min_length=1)  # by size; a curve's sizes outside all parts are not run
    note: str  # why it is laid over these curves

    def part(self, size: int) -> LinePart | None:
        """Return the part for points of so many bytes; None without one."""
        return next((part for part in self.parts if part.has(size)), None)

    def value(self, size: int, measured: float) -> float:
        """Return the value at a size in bytes from the measured metric, both in SI units."""
        return Arithmetic(self.modelled).value({self.metric: measured, SIZE: float(size)})

    def bounded(self, modelled: float, published: float) -> bool:
        """Tell whether a modelled value respects the line's bound; always true for lines of equality."""
        if self.kind == "equals":
            return True
        return modelled <= published if self.kind == "at_most" else modelled >= published


class Curves(_Said):
    """Content of published/curves.toml and curves.csv."""

    groups: tuple[Group, ...]  # in order
    curves: tuple[Curve, ...]  # in order
    lines: tuple[Line, ...]  # in order

    def about(self, installed: Machine) -> tuple[Curve, ...]:
        """Return the curves of a machine's hardware, in order."""
        return tuple(curve for curve in self.curves if installed.name in curve.machines)

    def beside(self, installed: Machine) -> tuple[Curve, ...]:
        """Return the curves of a machine's cards with processors that no machine has."""
        return tuple(curve for curve in self.curves if not curve.machines and curve.network == installed.network)

    def group(self, curve: Curve) -> Group:
        """Return the group of a curve."""
        return next(group for group in self.groups if group.name == curve.group)


def read_curves(text: str, points: str) -> Curves:
    """Return the curves in a TOML text and the points in a CSV text.

    Raises UsageError with the place if something is missing, stands twice, or names a kernel, operation, conduit or
    metric that does not exist.
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"curves.toml is not TOML ({error})") from error
    extra = set(content) - {"group", "curve", "line"}
    if extra:
        raise UsageError(f"curves.toml: unknown {', '.join(sorted(extra))}; allowed: group, curve, line")
    by_curve = _points(points)
    result = Curves(
        groups=tuple(_entry(Group, entry, f"group {at}") for at, entry in enumerate(content.get("group", []), 1)),
        curves=tuple(
            _entry(Curve, {**entry, "points": tuple(by_curve.pop(str(entry.get("id")), {}).items())}, f"curve {at}")
            for at, entry in enumerate(content.get("curve", []), 1)
        ),
        lines=tuple(_entry(Line, entry, f"line {at}") for at, entry in enumerate(content.get("line", []), 1)),
    )
    if by_curve:
        raise UsageError(f"curves.csv: curve {next(iter(by_curve))!r} does not stand in curves.toml")
    _once("group", [group.name for group in result.groups])
    _once("curve", [curve.id for curve in result.curves])
    for curve in result.curves:
        _check_curve(curve, result)
    for line in result.lines:
        _check_line(line, result)
    return result


@functools.cache
def curves() -> Curves:
    """Return the installed published/curves.toml and curves.csv; see `read_curves`."""
    return read_curves(*((_FOLDER / name).read_text(encoding="utf-8") for name in ("curves.toml", "curves.csv")))


def _entry(model: type[_Table], entry: Mapping[str, Any], where: str) -> _Table:
    try:
        return model.model_validate(entry)
    except ValidationError as error:
        raise UsageError(f"curves.toml: {where}: {first_mistake(error, model.model_fields)}", where) from None


def _points(text: str) -> dict[str, dict[int, float]]:
    """Return the points of each curve by their bytes."""
    rows = list(csv.reader(io.StringIO(text)))
    if not rows or rows[0] != _COLUMNS:
        given = ",".join(rows[0]) if rows else ""
        raise UsageError(f"curves.csv: the header is {given!r}; allowed: {','.join(_COLUMNS)}", given)
    by_curve: dict[str, dict[int, float]] = {}
    for number, row in enumerate(rows[1:], 2):
        where = f"curves.csv: line {number}"
        try:
            curve, size, value = row[0], int(row[1]), float(row[2])
        except (ValueError, IndexError):
            raise UsageError(f"{where}: {','.join(row)!r} is no curve, bytes and value", ",".join(row)) from None
        if len(row) != len(_COLUMNS) or size < 0 or not (value > 0 and math.isfinite(value)):
            raise UsageError(f"{where}: {','.join(row)!r}; allowed: bytes from 0, a value above 0", ",".join(row))
        if size <= max(by_curve.get(curve, {}), default=-1):
            raise UsageError(
                f"{where}: {size} B of {curve} do not ascend; allowed: each size once, in order", str(size)
            )
        by_curve.setdefault(curve, {})[size] = value
    return by_curve


def _once(what: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"curves.toml: {what} {name!r} stands there twice; allowed: once", name)


def _check_name(what: str, name: str, allowed: Iterable[str], where: str) -> None:
    if name not in (names := list(allowed)):
        raise unknown(what, name, names, where)


def _check_curve(curve: Curve, content: Curves) -> None:
    where = f"curve {curve.id} in curves.toml"
    _check_name(f"group of {where}", curve.group, [group.name for group in content.groups], "curves.toml")
    in_si(content.group(curve).unit)
    if len(curve.points) < 2:
        raise UsageError(f"{where} has {len(curve.points)} points in curves.csv; allowed: 2 or more", curve.id)
    for name in curve.machines:
        _check_name(f"machine of {where}", name, installed(), "gasmeter list machines")
        if network_of(name) != curve.network:
            raise UsageError(f"{where}: machine {name} is of network {network_of(name)}, not {curve.network}", name)
    for row in curve.hardware:
        _check_name(f"hardware fact of {where}", row, facts(), TABLE)


def _check_line(line: Line, content: Curves) -> None:
    where = f"line {line.label!r} in curves.toml"
    if {curve.network for curve in content.curves if curve.id in line.over} & set(lacking().values()):
        return  # this build lacks its conduit, as its network
    try:
        kernel, conduit = declared().kernel(line.kernel), declared().conduit(line.conduit)
        ops = [kernel.op(part.op) for part in line.parts]
    except UsageError as error:
        raise UsageError(f"{where}: {error}", error.value) from None
    for curve in line.over:
        _check_name(f"curve of {where}", curve, [curve.id for curve in content.curves], "curves.toml")
    over = [curve for curve in content.curves if curve.id in line.over]
    if len({content.group(curve).unit for curve in over}) > 1:
        raise UsageError(f"{where} is over curves of several units; allowed: one", line.label)
    if {curve.network for curve in over} != {conduit.network}:
        raise UsageError(
            f"{where}: conduit {line.conduit} is of network {conduit.network}; allowed: that of its curves"
        )
    for name in Arithmetic(line.modelled).names:
        _check_name(f"name of {where}", name, [line.metric, SIZE], "curves.toml")
    for op in ops:
        _check_name(f"metric of {where}", line.metric, [metric.name for metric in op.metrics], "gasmeter list kernels")
    for earlier, other in pairwise(line.parts):
        if earlier.last is None or other.first != earlier.last + 1:
            raise UsageError(
                f"{where}: its parts do not follow each other; allowed: each from where one ends", line.label
            )
