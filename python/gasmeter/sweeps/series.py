"""Descriptions of a sweep as values: series, targets, plots."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from gasmeter.arguments.choices import MOST_ITERATIONS
from gasmeter.arguments.names import KernelName
from gasmeter.arguments.renamed import warn_renamed
from gasmeter.arguments.sizes import parse_sizes
from gasmeter.errors import UsageError, did_you_mean, said_of
from gasmeter.machines.machine import Machine
from gasmeter.machines.named import machine
from gasmeter.sweeps.given import Conduits, Fields, Machines, Names, Ops
from gasmeter.sweeps.names import check_metric
from gasmeter.sweeps.placement import parse_placement, split_placements
from gasmeter.sweeps.point import Budget
from gasmeter.units import parse_duration, parse_ranks, parse_seeds, parse_share

__all__ = ["SPELT", "Described", "Plot", "Series", "Target", "fields_of"]

SPELT = {"size": "sizes", "reference": "against", "seeds": "seed"}
"""Names of series fields as users give them everywhere; the fields' own names are older."""

_FIELDS = {spelt: field for field, spelt in SPELT.items()}

Scalar = bool | int | float | str


def _names(value: object) -> object:
    """Accept ``"a"``, ``"a,b"`` and lists alike."""
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, Sequence) or not all(isinstance(item, str) for item in items):
        raise UsageError(f"{value!r} is not a name; allowed: text, for instance 'put' or 'put,get'", str(value))
    names = [name.strip() for item in items for name in item.split(",")]
    if len(names) > 1 and "" in names:
        raise UsageError(f"{value!r} has an empty name; allowed: names with commas between, for instance put,get")
    return tuple(dict.fromkeys(names))


def _names_given(value: object) -> object:
    """Accept what `_names` does, machines by their label, and "" for none."""
    items = [value] if isinstance(value, str | Machine) else value
    if isinstance(items, Sequence):
        items = [item.label if isinstance(item, Machine) else item for item in items]
    names = _names(items)
    return () if names == ("",) else names


def _machine_columns(value: object) -> object:
    """Accept what `_names_given` does, and return machines as they stand in the rows."""
    names = _names_given(value)
    return tuple(machine(str(name)).column for name in names) if isinstance(names, tuple) else names


class Described(BaseModel):
    """A frozen description whose mistakes are reported in one line."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __init__(self, **data: Any) -> None:
        if "kernel" in data:  # for a series, or for an experiment with a single one
            quick = data.get("quick")
            names = [*data, *(quick if isinstance(quick, Mapping) else ())]
            warn_renamed(names, SPELT, type(self).__name__, sys._getframe(1))
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise _one_line(type(self), error, data) from None


def fields_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by the fields of a series; unknown names stay.

    Raises UsageError for a value given by both names.
    """
    for field, spelt in SPELT.items():
        if field in given and spelt in given:
            raise UsageError(f"{spelt} is given twice, as {field} too; allowed: once", field)
    return {_FIELDS.get(name, name): value for name, value in given.items()}


def _spelt(fields: Iterable[str]) -> list[str]:
    """Return fields as callers give them, for messages."""
    return [SPELT.get(field, field) for field in fields]


def _one_line(model: type[BaseModel], error: ValidationError, data: Mapping[str, Any]) -> UsageError:
    # A misspelt field also leaves the right one missing: report the misspelt one.
    first = min(error.errors(), key=lambda entry: entry["type"] != "extra_forbidden")
    path = [str(part) for part in first["loc"]]
    where = ".".join([model.__name__, *path[:-1]])
    field = path[-1] if path else ""
    spelt = SPELT.get(field, field) if issubclass(model, Series) else field
    stands = field if field in data else spelt  # messages find the line of this name in the file
    if first["type"] == "extra_forbidden":
        fields = _spelt([*model.model_fields, *(Series.model_fields if "series" in model.model_fields else [])])
        text = f"{where}: no field {field!r}{did_you_mean(field, fields)} allowed: {', '.join(dict.fromkeys(fields))}"
        return UsageError(
            text.replace("? allowed", "? Allowed").replace(f"{field!r} allowed", f"{field!r}; allowed"), field
        )
    if first["type"] == "missing":
        return UsageError(f"{where}: field {field!r} is missing", field)
    message = said_of(first)
    given = first["input"]
    if first["type"] == "string_pattern_mismatch":
        message = f"{given!r} is not allowed; allowed: letters, digits, - and _, a letter or digit first"
    shown = f" (given: {given!r})" if not isinstance(given, Mapping | BaseModel) and repr(given) not in message else ""
    return UsageError(f"{'.'.join([where, spelt]) if spelt else where}: {message}{shown}", stands or None)


class Target(Described):
    """A limit for a comparison, or for a value itself; printed, never asserted.

    Attributes
    ----------
    line : str
        Text of the table's line.
    at_most, at_least : float or None
        Bound of the ratio ``value / reference``, or of the difference in the metric's unit if that is compared.
    metric : str or None
        Metric of the conduit itself that the bound applies to, in its unit, for instance ``rate``; None: the
        comparison.

    Examples
    --------
    >>> gm.Target(line="Short AM round trip", at_most=1.2).at_most
    1.2
    """

    line: str
    at_most: float | None = None
    at_least: float | None = None
    metric: str | None = None


class Plot(Described):
    """A plot of an experiment.

    Attributes
    ----------
    kind : {"latency", "bandwidth", "gups", "crossover", "links"}
        Latency against size with overhead below; bandwidth against size; Gups against ranks; the ratio of one way of
        moving pieces to another over size and option ``piece``, with the line of equality; or the load of each link of
        a modelled network, at the shown point with the busiest links.
    name : str
        File name without ending; the kind by default.
    title : str
        Title above the plot; the experiment's title by default.
    metric : str or None
        Metric drawn; the usual one of the kind by default.
    op, conduit, machine, topology : tuple of str
        Rows to show; all by default. A machine is given by its name or label, as in the rows.

    Examples
    --------
    >>> puts = gm.Series(kernel="ping-pong", op="put", conduit="ideal", sizes="8:64")
    >>> drawn = gm.Experiment(name="drawn", series=[puts], plots=[gm.Plot(kind="latency")])
    >>> drawn.run(out="out/drawn").complete
    True
    >>> sorted(path.name for path in Path("out/drawn/plots").iterdir())
    ['latency.png', 'latency.svg']
    """

    kind: Literal["latency", "bandwidth", "gups", "crossover", "links"]
    name: str = ""
    title: str = ""
    metric: str | None = None
    op: tuple[str, ...] = ()
    conduit: tuple[str, ...] = ()
    machine: tuple[str, ...] = ()
    topology: tuple[str, ...] = ()

    if TYPE_CHECKING:  # arguments of the validators

        def __init__(
            self,
            *,
            kind: Literal["latency", "bandwidth", "gups", "crossover", "links"],
            name: str = "",
            title: str = "",
            metric: str | None = None,
            op: Ops = (),
            conduit: Conduits = (),
            machine: Machines = (),
            topology: Names = (),
        ) -> None: ...

    _split = field_validator("op", "conduit", "topology", mode="before")(_names)
    _columns = field_validator("machine", mode="before")(_machine_columns)

    @field_validator("metric")
    @classmethod
    def _known(cls, value: str | None) -> str | None:
        return None if value is None else check_metric(value)


class Series(Described):
    """A kernel over axes that are crossed, or zipped by `zip`.

    Three fields have the names that they have everywhere: ``sizes``, ``against`` and ``seed``. `size`, `reference` and
    `seeds` still work, with a warning.

    Attributes
    ----------
    kernel : str
        Name of the kernel.
    conduit, op, variant : tuple of str
        Axes; a string with commas is split. ``op`` and ``variant`` may be ``all``; empty means the kernel's first.
    size : tuple of int or None
        Axis, in bytes; ``"8:4M"`` style text is parsed. None takes 8 B to 4 MiB as far as the operation carries it.
    ranks : tuple of int
        Axis; 2 by default.
    options : dict
        Option values by name; a list makes the option an axis.
    seeds : tuple of int
        Axis; seed of every random stream.
    repetitions : int
        Number of measurements of each point.
    zip : tuple of tuple of str
        Groups of axes that advance together instead of being crossed, by name (an option by its own name).
    reference : str, dict or None
        Reference of the other points: a conduit, or values of axes such as ``{"op": "call"}``. Points that differ from
        it in these axes only are measured in alternating blocks.
    compare : {"ratio", "difference", "both"}
        Comparisons written as rows; the ratio is the metric ``overhead``.
    Fields of `gasmeter.sweeps.point.Budget`; text such as ``2%`` and ``30s`` is parsed.
        See `gasmeter.sweeps.point.Budget`; text such as ``2%`` and ``30s`` is parsed.
    bisect : float or None
        Smallest jump of a curve over sizes to locate, such as ``20%``: sizes are added until two neighbouring ones hold
        the jump (`gasmeter.measuring.jumping.search` defines jumps).
    quick : dict
        Axes and budget fields that replace the ones above in a quick run.
    machine : tuple of str
        Axis of modelled conduits: names, labels such as ``extoll+link.bandwidth=1.25 GB/s``, or machines
        (`gasmeter.machine`). A conduit of another network runs on its own machine; empty takes the network's own.
    topology : tuple of str
        Axis of modelled conduits, for instance ``torus3d:4x4x4``, with faults ``torus2d:4x4/dead:0-1``; empty takes the
        machine's own.
    placement : tuple of str
        Axis of modelled conduits, which node each rank runs on: ``fill``, ``round-robin``, ``one-per-node`` or
        ``list:0,0,3,1``; empty is ``fill``.
    target : Target or None
        Limit of the comparison, for the summary.

    Examples
    --------
    >>> puts = gm.Series(kernel="ping-pong", op="put", conduit="extoll, raw@extoll", sizes="8:32")
    >>> puts.conduit, puts.size
    (('extoll', 'raw@extoll'), (8, 16, 32))
    """

    kernel: str
    conduit: tuple[str, ...] = Field(min_length=1)
    op: tuple[str, ...] = ()
    variant: tuple[str, ...] = ()
    size: tuple[int, ...] | None = None
    ranks: tuple[int, ...] = (2,)
    options: dict[str, Scalar | tuple[Scalar, ...]] = Field(default_factory=dict)
    seeds: tuple[int, ...] = (1,)
    repetitions: int = Field(default=1, ge=1)
    zip: tuple[tuple[str, ...], ...] = ()
    reference: str | dict[str, str] | None = None
    compare: Literal["ratio", "difference", "both"] = "ratio"
    ci: float | None = None
    time_s: float = Field(default=0.4, gt=0)
    max_time_s: float = Field(default=30.0, gt=0)
    iterations: int | None = Field(default=None, ge=1, le=MOST_ITERATIONS)
    blocks: int | None = Field(default=None, ge=1)
    bisect: float | None = None
    quick: dict[str, Any] = Field(default_factory=dict)
    machine: tuple[str, ...] = ()
    topology: tuple[str, ...] = ()
    placement: tuple[str, ...] = ()
    target: Target | None = None

    if TYPE_CHECKING:  # arguments of the validators, which turn them into field values

        def __init__(
            self,
            *,
            kernel: KernelName | str,
            conduit: Conduits,
            target: Target | None = None,
            **fields: Unpack[Fields],
        ) -> None: ...

    _split = field_validator("conduit", "op", "variant", mode="before")(_names)
    _split_given = field_validator("machine", "topology", mode="before")(_names_given)

    @model_validator(mode="before")
    @classmethod
    def _by_field(cls, data: Any) -> Any:
        return fields_of(data) if isinstance(data, dict) else data

    @field_validator("quick", mode="before")
    @classmethod
    def _quick_by_field(cls, value: Any) -> Any:
        return fields_of(value) if isinstance(value, dict) else value

    @field_validator("placement", mode="before")
    @classmethod
    def _placements(cls, value: Any) -> Any:
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, Sequence):
            raise UsageError(f"{value!r} is not a placement; allowed: text, for instance 'round-robin'", str(value))
        names = [name for item in items for name in split_placements(str(item))]
        return tuple(dict.fromkeys(parse_placement(name) for name in names if name or len(names) > 1))

    @field_validator("size", mode="before")
    @classmethod
    def _sizes(cls, value: Any) -> Any:
        return None if value is None else parse_sizes(value)

    @field_validator("ranks", mode="before")
    @classmethod
    def _ranks(cls, value: Any) -> Any:
        return parse_ranks(value)

    @field_validator("seeds", mode="before")
    @classmethod
    def _seeds(cls, value: Any) -> Any:
        return parse_seeds(value)

    @field_validator("reference", mode="before")
    @classmethod
    def _reference(cls, value: Any) -> Any:
        if isinstance(value, str | Mapping | None):
            return value
        raise UsageError(f"{value!r} is no reference; allowed: a conduit, or values of axes such as {{'op': 'call'}}")

    @field_validator("ci", "bisect", mode="before")
    @classmethod
    def _share(cls, value: Any) -> Any:
        return None if value is None else parse_share(value)

    @field_validator("time_s", "max_time_s", mode="before")
    @classmethod
    def _duration(cls, value: Any) -> Any:
        return parse_duration(value)

    @model_validator(mode="after")
    def _quick_fields(self) -> Series:
        for name in self.quick:
            if name not in Series.model_fields or name in {"kernel", "quick", "reference", "compare", "target"}:
                fields = _spelt(field for field in Series.model_fields if field not in {"kernel", "quick", "reference"})
                hint = did_you_mean(name, fields)
                allowed = f"{' ' if hint else '; '}allowed: {', '.join(fields)}"
                raise UsageError(f"quick has no field {name!r}{hint}{allowed}", name)
        if self.quick:
            self.quickened()
        return self

    def quickened(self) -> Series:
        """Return the series of a quick run.

        Returns
        -------
        Series
            The series with the fields in `quick` replaced and the budget of a quick run.
        """
        budget = self.budget().quick()
        fields = {"time_s": budget.time_s, "max_time_s": budget.max_time_s, "ci": None, **self.quick, "quick": {}}
        return self.replaced(fields)

    def replaced(self, fields: Mapping[str, Any]) -> Series:
        """Return the series with some fields replaced and validated again.

        Parameters
        ----------
        fields : mapping
            New values by field name.

        Returns
        -------
        Series
            A new value; this one is unchanged.

        Raises
        ------
        UsageError
            If a value does not fit its field.
        """
        given_fields = {name: getattr(self, name) for name in self.model_fields_set}
        return Series(**{**given_fields, **fields_of(fields)})

    def budget(self) -> Budget:
        """Return the budget of each point.

        Returns
        -------
        Budget
            The budget from `ci`, `time_s`, `max_time_s`, `iterations` and `blocks`.
        """
        return Budget(
            time_s=self.time_s, ci=self.ci, max_time_s=self.max_time_s, iterations=self.iterations, blocks=self.blocks
        )
