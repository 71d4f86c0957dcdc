"""From figures to points: the machine as given, its variants, longer runs, and what this build cannot run."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from gasmeter.catalogue import catalogue
from gasmeter.errors import UsageError
from gasmeter.machines.bands import bands
from gasmeter.machines.machine import TOPOLOGY, Machine
from gasmeter.machines.named import machine
from gasmeter.measuring.experiment import Experiment
from gasmeter.reproduction.figure import Effort, Figure, Line, Paper
from gasmeter.sweeps.point import Point
from gasmeter.sweeps.series import Series
from gasmeter.sweeps.sweep import plan_series
from gasmeter.units import quantity_text

__all__ = [
    "GIVEN", "LONGER", "SEED", "Plan", "Planned", "Role", "Variant", "describe", "factors", "plan_reproduction",
    "variants",
]  # fmt: skip

GIVEN = "as given"
"""The case of a machine as its file describes it."""
LONGER = 4
"""How many times as many updates a longer run has."""

SEED = 2
"""Seed of the stream of updates: HPC Challenge's own (1) loads the first ranks most until all updates are made."""

_FACTOR = 2.0
_WHOLE = {"bytes", "size", "count"}
_S_PER_UPDATE = 4e-6
_S_PER_RANK = 2e-4
_PAIR = 2

Role = Literal["figure", "longer", "band", "factor"]


@dataclass(frozen=True)
class Variant:
    """A variant of a machine.

    Attributes
    ----------
    name : str
        ``as given``, ``link.latency=0.25 us``, ``corner 3``, ``link.bandwidth x 2``.
    parameter : str
        The one that differs, or empty; of a machine that is not the first of the paper's, with the machine's name.
    kind : {"given", "end", "corner", "factor"}
        As in `gasmeter.verdicts.judging.Case`.
    machine : Machine or None
        The one that differs, with its overrides; None as given.
    """

    name: str
    parameter: str
    kind: Literal["given", "end", "corner", "factor"]
    machine: Machine | None = None


@dataclass(frozen=True)
class Planned:
    """Why a point is run."""

    role: Role
    line: Line
    placement: str
    x: int
    variant: str
    run_id: str


@dataclass
class Plan:
    """Everything a reproduction runs.

    Attributes
    ----------
    paper : Paper
        Whose figures.
    figures : tuple of Figure
        Which.
    quick : bool
        Whether efforts are the quick ones.
    series : list of Series
        What is run, in order.
    planned : list of Planned
        Every point and why; a point may serve several.
    variants : dict of str to Variant
        By name.
    moved : dict of tuple of str to set of str
        Names of the variants of a figure's number and role.
    donors : dict of str to str
        Points on variants of a machine, by identity, and the same point on the machine as given, whose rows are taken
        where the variant moves nothing that they depended on.
    missing : dict of str to str
        Lines this build cannot run, and why.
    notes : list of str
        What else a reader must know.
    """

    paper: Paper
    figures: tuple[Figure, ...]
    quick: bool
    series: list[Series] = field(default_factory=list)
    planned: list[Planned] = field(default_factory=list)
    variants: dict[str, Variant] = field(default_factory=dict)
    moved: dict[tuple[str, Role], set[str]] = field(default_factory=dict)
    donors: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def experiment(self) -> Experiment:
        """Return it as a sweep.

        Returns
        -------
        Experiment
            With a name of its own for each paper.
        """
        title = f"Figures {', '.join(figure.number for figure in self.figures)} of the {self.paper.name} paper"
        return Experiment(name=f"reproduce_{self.paper.name}", title=title, series=tuple(self.series))

    def machines(self) -> tuple[Machine, ...]:
        """Return the machines that its lines run on.

        Returns
        -------
        tuple of Machine
            As their files describe them, each once, in the order of the figures.
        """
        return tuple(machine(name) for name in dict.fromkeys(name for one in self.figures for name in one.machines))

    def effort(self, figure: Figure) -> Effort:
        """Return how long a figure is run.

        Parameters
        ----------
        figure : Figure
            Which.

        Returns
        -------
        Effort
            The quick or the full one.
        """
        return figure.quick if self.quick else figure.full

    def lines(self) -> list[Line]:
        """Return the lines that are run, each once.

        Returns
        -------
        list of Line
            In the order of the figures.
        """
        lines = dict.fromkeys(line for figure in self.figures for line in figure.lines)
        return [line for line in lines if describe(line) not in self.missing]


def describe(line: Line) -> str:
    """Return a line in words.

    Parameters
    ----------
    line : Line
        Which.

    Returns
    -------
    str
        For instance ``random-access put-get on extoll, mesh3d:4x4x4 (am=1)``.
    """
    options = ";".join(f"{name}={value}" for name, value in line.options)
    words = " ".join(word for word in (line.kernel, line.op, line.variant, "on", line.conduit) if word)
    where = line.topology or ("" if line.machine else "measured")
    return f"{words}{f', {where}' if where else ''}{f' ({options})' if options else ''}"


def variants(base: Machine, keys: Iterable[str] | None = None) -> Iterator[Variant]:
    """Yield the machine, then the variants of its band.

    Parameters
    ----------
    base : Machine
        As given.
    keys : iterable of str, optional
        The estimates that are moved; all by default.

    Yields
    ------
    Variant
        As given, each end of each estimate alone, 16 seeded corners.
    """
    for name, variant in bands(base, keys):
        if name == GIVEN:
            yield Variant(name, "", "given")
        elif name.startswith("corner "):
            yield Variant(name, "", "corner", variant)
        else:
            yield Variant(name, name.partition("=")[0], "end", variant)


def factors(base: Machine, keys: Iterable[str] | None = None) -> Iterator[Variant]:
    """Yield the machine, then each parameter at half and at twice its value, whatever its range.

    Parameters
    ----------
    base : Machine
        As given.
    keys : iterable of str, optional
        The parameters that are moved; all by default.

    Yields
    ------
    Variant
        As given, then two for each parameter that can have these values.
    """
    yield Variant(GIVEN, "", "given")
    for key in [number.key for number in base.numbers] if keys is None else keys:
        if key != TOPOLOGY:
            yield from _factors(base, key)


def _factors(base: Machine, key: str) -> Iterator[Variant]:
    """Yield a parameter at half and at twice its value, where it can have it."""
    number = base[key]
    if not isinstance(number.value, float) or number.value == 0:
        return
    for factor, said in ((1 / _FACTOR, "/ 2"), (_FACTOR, "x 2")):
        value = number.value * factor
        text = quantity_text(round(value) if number.kind in _WHOLE else value, number.kind)
        try:
            yield Variant(f"{key} {said}", key, "factor", base.with_({key: text}))
        except UsageError:
            continue


def plan_reproduction(paper: Paper, figures: Sequence[Figure], *, quick: bool = False) -> Plan:
    """Return what a reproduction runs.

    Parameters
    ----------
    paper : Paper
        Whose figures.
    figures : sequence of Figure
        Which.
    quick : bool, default False
        With their quick efforts.

    Returns
    -------
    Plan
        Points in the order they are run; lines that this build cannot run stand in `Plan.missing`.
    """
    plan = Plan(paper, tuple(figures), quick)
    known = _Known({}, {})
    for line in dict.fromkeys(line for figure in figures for line in (*figure.lines, *figure.beside)):
        try:
            known.options[line] = _options(line, plan)
        except UsageError as error:
            plan.missing[describe(line)] = str(error)
    roles: tuple[Role, ...] = ("figure", "longer", "band", "factor")
    for role in roles:
        for figure in figures:
            _plan_figure(plan, figure, role, known)
    plan.planned = list(dict.fromkeys(plan.planned))
    return plan


@dataclass(frozen=True)
class _Known:
    """Options of the lines that can be run, and points of the series so far."""

    options: dict[Line, dict[str, Any]]
    points: dict[str, list[Point]]


def _options(line: Line, plan: Plan) -> dict[str, Any]:
    """Return what a line asks for in this build."""
    entry = catalogue()
    kernel = entry.kernel(line.kernel)
    conduit = entry.conduit(line.conduit, kernel)
    there = {option.name for option in (*kernel.options, *conduit.options)}
    for name, value in line.options:
        if name not in there:
            raise UsageError(f"this build of {line.conduit} has no option {name}={value}", name)
    for name, value in line.wanted:
        note = f"this build has no option {name}={value} of {line.kernel} on {line.conduit}; it was run without"
        if name not in there and note not in plan.notes:
            plan.notes.append(note)
    return {name: value for name, value in (*line.options, *line.wanted) if name in there}


def _chosen(plan: Plan, figure: Figure, role: Role) -> Iterator[Variant]:
    """Yield the machines as given, then each variant of each: the others stay as they are meanwhile."""
    yield Variant(GIVEN, "", "given")
    if role not in {"band", "factor"}:
        return
    first = plan.paper.machine
    for name in figure.machines:
        base = machine(name)
        where = "" if name == first else f"{name}: "
        for variant in variants(base) if role == "band" else factors(base):
            if variant.kind != "given":
                parameter = f"{where}{variant.parameter}" if variant.parameter else ""
                yield replace(variant, name=f"{where}{variant.name}", parameter=parameter)


def _plan_figure(plan: Plan, figure: Figure, role: Role, known: _Known) -> None:
    effort = plan.effort(figure)
    xs, updates = {
        "figure": (effort.xs, effort.iterations),
        "longer": (effort.longer, LONGER * effort.iterations),
        "band": (effort.band_xs, effort.band_iterations),
        "factor": (effort.factor_xs, effort.band_iterations),
    }[role]
    if not xs:
        return
    placements = figure.placements[-1:] if role == "factor" else figure.placements
    beside = figure.beside if role == "figure" and not plan.quick else ()
    given: dict[tuple[str, Line], list[Point]] = {}
    for variant in _chosen(plan, figure, role):
        plan.variants[variant.name] = variant
        plan.moved.setdefault((figure.number, role), set()).add(variant.name)
        for placement, line in itertools.product(placements, (*figure.lines, *beside)):
            if line not in known.options:
                continue
            series = Series(
                **_machine(line, variant.machine, placement),
                **_axes(line, figure, xs),
                **_budget(line, xs if figure.axis == "ranks" else (_PAIR,), updates),
                options=dict(known.options[line]),
            )
            points = _points(series, line, plan, known.points)
            for point, donor in zip(points, given.setdefault((placement, line), points), strict=False):
                if point.id != donor.id:
                    plan.donors[point.id] = donor.id
            for point in points:
                x = point.ranks if figure.axis == "ranks" else point.size_bytes
                plan.planned.append(Planned(role, line, placement, x, variant.name, point.id))


def _machine(line: Line, variant: Machine | None, placement: str) -> dict[str, Any]:
    """Return the machine a line runs on: a variant of it, or it stays as it is meanwhile."""
    if not line.machine:
        return {}
    moved = variant.overrides() if variant is not None and variant.name == line.machine else {}
    own = machine(line.machine).with_({**dict(line.overrides), **moved})
    topology = {"topology": (line.topology,)} if line.topology else {}
    return {"machine": (own.label,), "placement": (placement,), **topology}


def _axes(line: Line, figure: Figure, xs: tuple[int, ...]) -> dict[str, Any]:
    axes = {
        "kernel": line.kernel,
        "op": (line.op,) if line.op else (),
        "conduit": (line.conduit,),
        "variant": (line.variant,) if line.variant else (),
        "seeds": (SEED,),
    }
    if figure.axis == "size":
        return {**axes, "ranks": (_PAIR,), "size": xs}
    sizes = tuple(figure.bytes_per_rank * count for count in xs)
    return {**axes, "ranks": xs, "size": sizes, "zip": (("size", "ranks"),)}


def _budget(line: Line, ranks: tuple[int, ...], updates: int) -> dict[str, Any]:
    """Return one block, with the time it is expected to take so that progress knows what is left."""
    if not line.machine:
        return {}  # measured: as long as any measurement
    mean = sum(ranks) / len(ranks)
    seconds = round(mean * (_S_PER_RANK + updates * _S_PER_UPDATE), 3)
    return {"iterations": updates, "blocks": 1, "time_s": max(seconds, 0.001)}


def _points(series: Series, line: Line, plan: Plan, seen: dict[str, list[Point]]) -> list[Point]:
    """Return the points of a series; if it is refused, the line is missing."""
    text = series.model_dump_json()
    if text in seen:
        return seen[text]
    try:
        points = [point for group in plan_series(series) for point in group.points]
    except UsageError as error:
        plan.missing.setdefault(describe(line), str(error))
        points = []
    else:
        plan.series.append(series)
    seen[text] = points
    return points
