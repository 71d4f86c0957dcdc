"""From figures to points: lengths tried on machines as given, then draws, and lines that this build cannot run."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from gasmeter.catalogue import catalogue
from gasmeter.errors import UsageError
from gasmeter.machines.machine import Machine
from gasmeter.machines.named import machine
from gasmeter.measuring.experiment import Experiment
from gasmeter.reproduction.plan.cases import DRAWN, RunCase, null_draws, prior_draws
from gasmeter.reproduction.plan.figure import RANKS, SIZE, Effort, Figure, Line, Paper, describe
from gasmeter.sweeps.point import Group, Point
from gasmeter.sweeps.series import Series
from gasmeter.sweeps.sweep import plan_series
from gasmeter.verdicts.series import X

__all__ = [
    "LONGER", "NEXT", "SEED", "Plan", "Planned", "Role", "Spot", "Witness", "new_plan", "plan_cases", "plan_given",
    "plan_witnesses", "shown_alone", "spots_of",
]  # fmt: skip

LONGER = 4
"""Factor on the length of a run that tests whether a value still moves."""

NEXT = 2
"""Factor on the length of the next run whose value may count."""

SEED = 2
"""Seed of the update stream: HPC Challenge's own (1) loads the first ranks most until all updates are made."""

WITNESSES = 10
"""Prior draws, and as many of the null model, that test whether a line without a price is the same on all of them."""

_AT_EVERY_X = 1  # witnesses with every x; the others have the first x alone
_S_PER_OPERATION = 4e-6
_S_PER_RANK = 2e-4

Role = Literal["figure", "beside", "given", "prior", "draw", "null", "ablation"]


@dataclass(frozen=True)
class Spot:
    """A line at one x."""

    line: Line
    x: X


@dataclass(frozen=True)
class Planned:
    """Purpose of a point."""

    role: Role  # kind of case; ``beside``: shown and not judged
    case: str  # name of the case
    line: Line
    placement: str  # placement of its ranks
    x: X  # on the axis
    length: int  # operations of each rank
    run_id: str  # name of the point in rows


@dataclass(frozen=True)
class Witness:
    """A point on a draw that should equal the point as given, since no price moves its metric."""

    line: Line
    run_id: str  # run_id of the point on the draw
    given: str  # run_id of the point as given


@dataclass
class Plan:
    """Everything a reproduction runs."""

    paper: Paper
    figures: tuple[Figure, ...]
    quick: bool  # whether runs have the quick length
    options: dict[Line, dict[str, Any]] = field(default_factory=dict)  # options of each line in this build
    series: list[Series] = field(default_factory=list)  # in the order of runs
    planned: list[Planned] = field(default_factory=list)  # every point with its purpose; a point may serve several
    cases: dict[str, RunCase] = field(default_factory=dict)  # by name
    refused: dict[str, str] = field(default_factory=dict)  # cases that a machine refuses at planning, with the reason
    witnesses: list[Witness] = field(default_factory=list)  # points that show that a line is the same on every draw
    # Lines with that proof: their points as given replace those on draws, which are not run
    unmoved: set[Line] = field(default_factory=set)
    # By identity of points without a mechanism, the point with it; its rows are copied where the mechanism's numbers
    # were unused
    donors: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)  # lines that this build cannot run, with the reason
    notes: list[str] = field(default_factory=list)  # further notes for readers
    _seen: dict[str, list[Group]] = field(default_factory=dict)
    _given: dict[tuple[Line, str, X, int], str] = field(default_factory=dict)

    def experiment(self, series: Sequence[Series] | None = None) -> Experiment:
        """Return some or all series as an experiment, named after the paper."""
        title = f"Figures {', '.join(figure.number for figure in self.figures)} of the {self.paper.name} paper"
        chosen = self.series if series is None else series
        return Experiment(name=f"reproduce_{self.paper.name}", title=title, series=tuple(chosen))

    def groups(self, series: Sequence[Series] | None = None) -> list[Group]:
        """Return the planned groups, each content once, in order.

        Tens of thousands of points are made a single time.
        """
        chosen = self.series if series is None else series
        groups = (group for entry in chosen for group in self._seen.get(entry.model_dump_json()) or plan_series(entry))
        return list({group.id: group for group in groups}.values())

    def machines(self) -> tuple[Machine, ...]:
        """Return the machines of its lines as their files describe them, each once, in the order of the figures."""
        return tuple(
            machine(name) for name in dict.fromkeys(name for figure in self.figures for name in figure.machines)
        )

    def effort(self, figure: Figure) -> Effort:
        """Return the quick or full length of a figure's runs."""
        return figure.quick if self.quick else figure.full

    def lines(self) -> list[Line]:
        """Return the judged lines that can be run, each once, in the order of the figures."""
        lines = dict.fromkeys(line for figure in self.figures for line in figure.lines)
        return [line for line in lines if line in self.options]


def new_plan(paper: Paper, figures: Sequence[Figure], *, quick: bool = False) -> Plan:
    """Return an empty plan; `Plan.missing` names lines that this build cannot run."""
    plan = Plan(paper, tuple(figures), quick)
    for line in dict.fromkeys(line for figure in figures for line in (*figure.lines, *figure.beside)):
        try:
            plan.options[line] = _options(line, plan)
        except UsageError as error:
            plan.missing[describe(line)] = str(error)
    return plan


def _known_options(line: Line) -> set[str]:
    """Return the options of a line's kernel and conduit."""
    entry = catalogue()
    kernel = entry.kernel(line.kernel)
    return {option.name for option in (*kernel.options, *entry.conduit(line.conduit, kernel).options)}


def _options(line: Line, plan: Plan) -> dict[str, Any]:
    """Return the options of a line in this build."""
    available = _known_options(line)
    for name, value in line.options:
        if name not in available:
            raise UsageError(f"this build of {line.conduit} has no option {name}={value}", name)
    for name, value in line.wanted:
        note = f"this build has no option {name}={value} of {line.kernel} on {line.conduit}; it was run without"
        if name not in available and note not in plan.notes:
            plan.notes.append(note)
    return {name: value for name, value in (*line.options, *line.wanted) if name in available}


def spots_of(plan: Plan, figure: Figure, lines: Iterable[Line], *, drawn: bool = False) -> list[Spot]:
    """Return every line at every x of a figure, lines in order and x ascending; with `drawn` only x run on draws."""
    effort = plan.effort(figure)
    xs = (effort.drawn or effort.xs) if drawn else effort.xs
    spots = [Spot(line, figure.x_of(x, effort)) for line in lines if line in plan.options for x in xs]
    return [spot for spot in spots if not drawn or spot.x <= spot.line.drawn_to]


def plan_given(plan: Plan, lengths: Mapping[tuple[str, Spot], int], *, left_out: Collection[Spot] = ()) -> list[Series]:
    """Add the machines as given at the lengths to try now, without `left_out`; return the new series.

    `lengths` holds operations of each rank by placement and spot.
    """
    series: list[Series] = []
    given = RunCase()
    for figure in plan.figures:
        beside = () if plan.quick else figure.beside
        for placement, line in itertools.product(figure.placements, (*figure.lines, *beside)):
            role: Role = "figure" if line in figure.lines else "beside"
            wanted = {spot.x: lengths[placement, spot] for spot in spots_of(plan, figure, [line])
                      if (placement, spot) in lengths}  # fmt: skip
            without = {spot.x for spot in left_out if spot.line == line}
            series += _plan_line(
                plan, figure, line, case=given, placement=placement, role=role, wanted=wanted, left_out=without
            )
    return series


def _without_price(lines: Iterable[Line]) -> list[Line]:
    """Return the modelled lines whose metric no price moves."""
    unpriced = {name for name, metric in catalogue().metrics.items() if not metric.priced}
    return [line for line in lines if line.machine and (line.counted or line.metric in unpriced)]


def shown_alone(plan: Plan) -> set[Spot]:
    """Return the spots of lines that no price moves and whose jobs are too large for draws.

    They run on the machines as given alone. Four times the work, which shows whether a line is steady, runs at the
    line's other x: at these spots it would take most of the figure's time.
    """
    alone: set[Spot] = set()
    for figure in plan.figures:
        lines = _without_price((*figure.lines, *figure.beside))
        alone |= {*spots_of(plan, figure, lines)} - {*spots_of(plan, figure, lines, drawn=True)}
    return alone


def plan_witnesses(plan: Plan, lengths: Mapping[tuple[str, Spot], int]) -> list[Series]:
    """Add a few draws of lines that no price moves, to test whether sizes and counts do; return the new series.

    The machines as given are planned already. The result is empty if every line has a price.
    """
    series: list[Series] = []
    for figure in plan.figures:
        for line in _without_price(figure.lines):
            for case in (*prior_draws()[:WITNESSES], *null_draws()[:WITNESSES]):
                placement = _placements(figure, case)[0]
                spots = spots_of(plan, figure, [line], drawn=True)
                wanted = {spot.x: lengths[placement, spot] for spot in spots}
                left_out = () if case.number < _AT_EVERY_X else [*wanted][1:]
                new, points = _points_of(
                    plan, figure, line, case=case, placement=placement, wanted=wanted, left_out=left_out
                )
                series += new
                plan.witnesses += [
                    Witness(line, point.id, plan._given[line, placement, x, length]) for x, length, point in points
                ]
    return series


def plan_cases(plan: Plan, cases: Sequence[RunCase], lengths: Mapping[tuple[str, Spot], int]) -> list[Series]:
    """Add whole figures on draws, and lines without a mechanism; return the new series.

    Planning knows no statement of a paper: the same points run whether anybody judges them or not.
    """
    series: list[Series] = []
    for case in cases:
        plan.cases[case.name] = case
        for figure in plan.figures:
            lines = (
                figure.lines if case.without is None else [line for line in case.without.lines if line in figure.lines]
            )
            for placement, line in itertools.product(_placements(figure, case), lines):
                spots = spots_of(plan, figure, [line], drawn=case.without is None)
                wanted = {spot.x: lengths[placement, spot] for spot in spots if (placement, spot) in lengths}
                series += _plan_line(plan, figure, line, case=case, placement=placement, role=case.kind, wanted=wanted)
    return series


def _placements(figure: Figure, case: RunCase) -> tuple[str, ...]:
    """Return the placement of a draw, or all of them for a removed mechanism."""
    return figure.placements if case.without else (figure.placements[case.number % len(figure.placements)],)


def _plan_line(
    plan: Plan, figure: Figure, line: Line, *, case: RunCase, placement: str, role: Role, wanted: Mapping[X, int],
    left_out: Collection[X] = (),
) -> list[Series]:  # fmt: skip
    """Plan a line at some x, each with its length."""
    if case.kind in DRAWN and line in plan.unmoved and case.name not in plan.refused:
        plan.planned += [
            Planned(role, case.name, line, placement, x, length, plan._given[line, placement, x, length])
            for x, length in wanted.items()
        ]
        return []
    new, points = _points_of(plan, figure, line, case=case, placement=placement, wanted=wanted, left_out=left_out)
    for x, length, point in points:
        if case.kind == "given":
            plan._given[line, placement, x, length] = point.id
        elif case.without is not None and (donor := plan._given.get((line, placement, x, length))):
            plan.donors[point.id] = donor
        plan.planned.append(Planned(role, case.name, line, placement, x, length, point.id))
    return new


def _points_of(
    plan: Plan, figure: Figure, line: Line, *, case: RunCase, placement: str, wanted: Mapping[X, int],
    left_out: Collection[X],
) -> tuple[list[Series], list[tuple[X, int, Point]]]:  # fmt: skip
    """Return the new series of a line at some x, and its points; points of one length share a series.

    A point has the same name whatever other points of its series are left out.
    """
    if line not in plan.options or case.name in plan.refused or describe(line) in plan.missing:
        return [], []
    new: list[Series] = []
    points: list[tuple[X, int, Point]] = []
    try:
        options = {**plan.options[line], **case.options(line, _known_options(line))}
        where = _machine(line, case, placement)
    except UsageError as error:
        _refuse(plan, line, case, error)
        return [], []
    by_length: dict[int, list[X]] = {}
    for x, length in wanted.items():
        by_length.setdefault(length, []).append(x)
    for length, every in by_length.items():
        xs = [x for x in every if x not in left_out]
        if not xs:
            continue
        series = Series(
            **where, **_axes(line, figure, xs, plan.effort(figure)), **_budget(line, figure, every, length),
            options={**options, **_option_axis(figure, xs, plan.effort(figure))},
        )  # fmt: skip
        text = series.model_dump_json()
        if text not in plan._seen:
            try:
                plan._seen[text] = plan_series(series)
            except UsageError as error:
                plan._seen[text] = []
                _refuse(plan, line, case, error)
            else:
                new.append(series)
        new_points = (point for group in plan._seen[text] for point in group.points)
        points += [(x, length, point) for x, point in zip(xs, new_points, strict=False)]
    plan.series += new
    return new, points


def _refuse(plan: Plan, line: Line, case: RunCase, error: UsageError) -> None:
    """Keep the reason why a case or line cannot be planned: a refusing machine, or an incomplete build."""
    if case.kind in DRAWN:
        plan.refused.setdefault(case.name, str(error))
    elif case.kind == "ablation":
        plan.notes.append(str(error))
    else:
        plan.missing.setdefault(describe(line), str(error))


def _machine(line: Line, case: RunCase, placement: str) -> dict[str, Any]:
    if not line.machine:
        return {}
    topology = {"topology": (line.topology,)} if line.topology else {}
    return {"machine": (case.machine(line).label,), "placement": (placement,), **topology}


def _axes(line: Line, figure: Figure, xs: Sequence[X], effort: Effort) -> dict[str, Any]:
    axes: dict[str, Any] = {
        "kernel": line.kernel,
        "op": (line.op,) if line.op else (),
        "conduit": (line.conduit,),
        "variant": (line.variant,) if line.variant else (),
        "seeds": (SEED,),
    }
    sized = {"size": (line.size,)} if line.size else {}
    if figure.axis == SIZE:
        return {**axes, "ranks": (line.ranks,), "size": tuple(int(x) for x in xs)}
    if figure.axis != RANKS:
        return {**axes, "ranks": (line.ranks,), **sized}
    ranks = tuple(int(x) for x in xs)
    if not figure.bytes_per_rank:
        return {**axes, "ranks": ranks, **sized}
    sizes = tuple(figure.bytes_per_rank * count for count in ranks)
    return {**axes, "ranks": ranks, "size": sizes, "zip": (("size", "ranks"),)}


def _option_axis(figure: Figure, xs: Sequence[X], effort: Effort) -> dict[str, Any]:
    """Return the option on the axis in the spelling that was given."""
    if figure.axis in {RANKS, SIZE}:
        return {}
    return {figure.axis: tuple(given for given in effort.xs if figure.x_of(given, effort) in set(xs))}


def _budget(line: Line, figure: Figure, xs: Sequence[X], length: int) -> dict[str, Any]:
    """Return a budget of one block, with its expected time for progress."""
    if not line.machine:
        return {}  # measured lines take the usual time
    ranks = [int(x) for x in xs] if figure.axis == RANKS else [line.ranks]
    mean = sum(ranks) / len(ranks)
    seconds = round(mean * (_S_PER_RANK + length * _S_PER_OPERATION), 3)
    return {"iterations": length, "blocks": 1, "time_s": max(seconds, 0.001)}
