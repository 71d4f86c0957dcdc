"""Curves that others have measured on hardware, and the modelled lines that are laid over them: published/curves.*."""

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
"""The name that expressions of lines call the bytes of a point by."""

_FOLDER = Path(__file__).resolve().parent.parent / "published"
_COLUMNS = ["curve", "size_bytes", "value"]


class _Said(BaseModel):
    """What a table of curves.toml says: nothing but its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


_Table = TypeVar("_Table", bound=_Said)


class Group(_Said):
    """Curves of one quantity, which stand in one picture.

    Attributes
    ----------
    name, title : str
        Of the picture's file; above it.
    quantity, unit : str
        What was measured, and the unit of its values.
    """

    name: str = Field(pattern=r"^[a-z0-9-]+$")
    title: str
    quantity: str
    unit: str


class Curve(_Said):
    """A curve that was measured and published.

    Attributes
    ----------
    id, group, label : str
        Its name, that of its group, what legends call it.
    network, processor : str
        The modelled network of these cards; the processor, as published.
    machines : tuple of str
        Installed machines that it is about; none where no machine has this processor.
    source, read : str
        Where it stands; how it was read there, and how exact it is.
    hardware : tuple of str
        Rows of published/hardware.csv that say points of it or come from the same text.
    note : str
        What else a reader must know.
    points : tuple of tuple of int and float
        Bytes and value in the unit of the group, ascending.
    """

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    group: str
    label: str
    network: str
    processor: str
    machines: tuple[str, ...]
    source: str = Field(min_length=1)
    read: str = Field(min_length=1)
    hardware: tuple[str, ...]
    note: str
    points: tuple[tuple[int, float], ...] = ()

    def inputs(self, installed: Machine) -> dict[str, tuple[str, ...]]:
        """Return the numbers of a machine that rest on what this curve's text says.

        Parameters
        ----------
        installed : Machine
            Which.

        Returns
        -------
        dict of str to tuple of str
            Rows of published/hardware.csv by parameter; with any, the curve is no independent test.
        """
        resting = {
            number.key: tuple(row for row in number.hardware if row in self.hardware) for number in installed.numbers
        }
        return {key: rows for key, rows in resting.items() if rows}


class LinePart(_Said):
    """How the points of a line are run, by their size.

    Attributes
    ----------
    op : str
        Of the kernel.
    first, last : int or None
        Bytes, both ends included; without a last one to the end.
    iterations : int
        Operations of the one block.
    """

    op: str
    first: int = Field(alias="from", ge=0)
    last: int | None = Field(default=None, alias="to", ge=0)
    iterations: int = Field(ge=1)

    def has(self, size: int) -> bool:
        """Return whether points of so many bytes are run like this."""
        return self.first <= size <= (math.inf if self.last is None else self.last)


class Line(_Said):
    """A modelled line that is laid over curves.

    Attributes
    ----------
    label : str
        In legends.
    over : tuple of str
        Ids of curves.
    kind : {"equals", "at_least", "at_most"}
        What it says of the published value: the same benchmark, or a bound of it.
    kernel, conduit, metric : str
        What is run, and which of its rows counts.
    options : dict of str to str
        Options of kernel and conduit.
    modelled : str
        Arithmetic over the metric and `SIZE`, in SI units.
    parts : tuple of LinePart
        By size; a curve's sizes that none has are not run.
    note : str
        Why it is laid over these curves.
    """

    label: str
    over: tuple[str, ...] = Field(min_length=1)
    kind: Literal["equals", "at_least", "at_most"]
    kernel: str
    conduit: str
    metric: str
    options: dict[str, str] = Field(default_factory=dict)
    modelled: str
    parts: tuple[LinePart, ...] = Field(min_length=1)
    note: str

    def part(self, size: int) -> LinePart | None:
        """Return how points of so many bytes are run; None if they are not."""
        return next((part for part in self.parts if part.has(size)), None)

    def value(self, size: int, measured: float) -> float:
        """Return what a point comes to.

        Parameters
        ----------
        size : int
            Bytes.
        measured : float
            Its metric, in SI units.

        Returns
        -------
        float
            In SI units.
        """
        return Arithmetic(self.modelled).value({self.metric: measured, SIZE: float(size)})

    def bounded(self, modelled: float, published: float) -> bool:
        """Return whether a modelled value is where the line says that it is; always so of what should be equal."""
        if self.kind == "equals":
            return True
        return modelled <= published if self.kind == "at_most" else modelled >= published


class Curves(_Said):
    """Everything that published/curves.toml and curves.csv say.

    Attributes
    ----------
    groups : tuple of Group
        In order.
    curves : tuple of Curve
        In order.
    lines : tuple of Line
        In order.
    """

    groups: tuple[Group, ...]
    curves: tuple[Curve, ...]
    lines: tuple[Line, ...]

    def about(self, installed: Machine) -> tuple[Curve, ...]:
        """Return the curves that were measured of a machine's hardware.

        Parameters
        ----------
        installed : Machine
            Also with overrides.

        Returns
        -------
        tuple of Curve
            In order.
        """
        return tuple(curve for curve in self.curves if installed.name in curve.machines)

    def beside(self, installed: Machine) -> tuple[Curve, ...]:
        """Return the curves of a machine's cards beside processors that no machine has."""
        return tuple(curve for curve in self.curves if not curve.machines and curve.network == installed.network)

    def group(self, curve: Curve) -> Group:
        """Return the group of a curve."""
        return next(group for group in self.groups if group.name == curve.group)


def read_curves(text: str, points: str) -> Curves:
    """Return what files of curves say.

    Parameters
    ----------
    text : str
        TOML, as published/curves.toml.
    points : str
        CSV, as published/curves.csv.

    Returns
    -------
    Curves
        Lines of kernels, operations, conduits and metrics that exist, over curves of one group each.

    Raises
    ------
    UsageError
        If something is missing, stands there twice, or names what does not exist; the message says where.
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"curves.toml is not TOML ({error})") from error
    extra = set(content) - {"group", "curve", "line"}
    if extra:
        raise UsageError(f"curves.toml: unknown {', '.join(sorted(extra))}; allowed: group, curve, line")
    by_curve = _points(points)
    found = Curves(
        groups=tuple(_entry(Group, entry, f"group {at}") for at, entry in enumerate(content.get("group", []), 1)),
        curves=tuple(
            _entry(Curve, {**entry, "points": tuple(by_curve.pop(str(entry.get("id")), {}).items())}, f"curve {at}")
            for at, entry in enumerate(content.get("curve", []), 1)
        ),
        lines=tuple(_entry(Line, entry, f"line {at}") for at, entry in enumerate(content.get("line", []), 1)),
    )
    if by_curve:
        raise UsageError(f"curves.csv: curve {next(iter(by_curve))!r} does not stand in curves.toml")
    _once("group", [group.name for group in found.groups])
    _once("curve", [curve.id for curve in found.curves])
    for curve in found.curves:
        _check_curve(curve, found)
    for line in found.lines:
        _check_line(line, found)
    return found


@functools.cache
def curves() -> Curves:
    """Return what the installed published/curves.toml and curves.csv say.

    Returns
    -------
    Curves
        See `read_curves`.
    """
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
    found: dict[str, dict[int, float]] = {}
    for number, row in enumerate(rows[1:], 2):
        where = f"curves.csv: line {number}"
        try:
            curve, size, value = row[0], int(row[1]), float(row[2])
        except (ValueError, IndexError):
            raise UsageError(f"{where}: {','.join(row)!r} is no curve, bytes and value", ",".join(row)) from None
        if len(row) != len(_COLUMNS) or size < 0 or not (value > 0 and math.isfinite(value)):
            raise UsageError(f"{where}: {','.join(row)!r}; allowed: bytes from 0, a value above 0", ",".join(row))
        if size <= max(found.get(curve, {}), default=-1):
            raise UsageError(
                f"{where}: {size} B of {curve} do not ascend; allowed: each size once, in order", str(size)
            )
        found.setdefault(curve, {})[size] = value
    return found


def _once(what: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"curves.toml: {what} {name!r} stands there twice; allowed: once", name)


def _known(what: str, name: str, known: Iterable[str], where: str) -> None:
    if name not in (names := list(known)):
        raise unknown(what, name, names, where)


def _check_curve(curve: Curve, found: Curves) -> None:
    where = f"curve {curve.id} in curves.toml"
    _known(f"group of {where}", curve.group, [group.name for group in found.groups], "curves.toml")
    in_si(found.group(curve).unit)
    if len(curve.points) < 2:
        raise UsageError(f"{where} has {len(curve.points)} points in curves.csv; allowed: 2 or more", curve.id)
    for name in curve.machines:
        _known(f"machine of {where}", name, installed(), "gasmeter list machines")
        if network_of(name) != curve.network:
            raise UsageError(f"{where}: machine {name} is of network {network_of(name)}, not {curve.network}", name)
    for row in curve.hardware:
        _known(f"hardware fact of {where}", row, facts(), TABLE)


def _check_line(line: Line, found: Curves) -> None:
    where = f"line {line.label!r} in curves.toml"
    if {curve.network for curve in found.curves if curve.id in line.over} & set(lacking().values()):
        return  # its conduit was left out of this build, as its network was
    try:
        kernel, conduit = declared().kernel(line.kernel), declared().conduit(line.conduit)
        ops = [kernel.op(part.op) for part in line.parts]
    except UsageError as error:
        raise UsageError(f"{where}: {error}", error.value) from None
    for curve in line.over:
        _known(f"curve of {where}", curve, [one.id for one in found.curves], "curves.toml")
    over = [curve for curve in found.curves if curve.id in line.over]
    if len({found.group(curve).unit for curve in over}) > 1:
        raise UsageError(f"{where} is over curves of several units; allowed: one", line.label)
    if {curve.network for curve in over} != {conduit.network}:
        raise UsageError(
            f"{where}: conduit {line.conduit} is of network {conduit.network}; allowed: that of its curves"
        )
    for name in Arithmetic(line.modelled).names:
        _known(f"name of {where}", name, [line.metric, SIZE], "curves.toml")
    for op in ops:
        _known(f"metric of {where}", line.metric, [metric.name for metric in op.metrics], "gasmeter list kernels")
    for one, other in pairwise(line.parts):
        if one.last is None or other.first != one.last + 1:
            raise UsageError(
                f"{where}: its parts do not follow each other; allowed: each from where one ends", line.label
            )
