"""From figures to points: lengths tried on the machines as given, then draws, and what this build cannot run."""

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
from gasmeter.reproduction.cases import DRAWN, RunCase, null_draws, prior_draws
from gasmeter.reproduction.figure import RANKS, SIZE, Effort, Figure, Line, Paper, describe
from gasmeter.sweeps.point import Group, Point
from gasmeter.sweeps.series import Series
from gasmeter.sweeps.sweep import plan_series
from gasmeter.verdicts.series import X

__all__ = [
    "LONGER", "NEXT", "SEED", "Plan", "Planned", "Role", "Spot", "Witness", "new_plan", "plan_cases", "plan_given",
    "plan_witnesses", "shown_alone", "spots_of",
]  # fmt: skip

LONGER = 4
"""How many times as long a run has to be that shows whether a value still moves."""

NEXT = 2
"""How many times as long the next run is whose value may be taken."""

SEED = 2
"""Seed of the stream of updates: HPC Challenge's own (1) loads the first ranks most until all updates are made."""

WITNESSES = 10
"""Draws of either kind that show whether a line is the same on all of them whose metric no price moves."""

_AT_EVERY_X = 1  # of these draws; the others have the first x alone
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
    """Why a point is run.

    Attributes
    ----------
    role : {"figure", "beside", "prior", "draw", "null", "ablation"}
        On which kind of case; beside: shown and not judged.
    case : str
        Name of the case.
    line : Line
        Which line.
    placement : str
        Where its ranks stand.
    x : X
        Where on the axis.
    length : int
        Operations of each rank.
    run_id : str
        As rows name the point.
    """

    role: Role
    case: str
    line: Line
    placement: str
    x: X
    length: int
    run_id: str


@dataclass(frozen=True)
class Witness:
    """A point on a draw that may well come to what it comes to as given, since no price moves its metric.

    Attributes
    ----------
    line : Line
        Whose.
    run_id : str
        Of the point on the draw.
    given : str
        Of the same point on the machine as given.
    """

    line: Line
    run_id: str
    given: str


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
    options : dict of Line to dict
        What each line asks for in this build.
    series : list of Series
        What is run, in order.
    planned : list of Planned
        Every point and why; a point may serve several.
    cases : dict of str to RunCase
        By name.
    refused : dict of str to str
        Cases that a machine refuses already when they are planned, and why.
    witnesses : list of Witness
        What shows that a line is the same on every draw.
    unmoved : set of Line
        Lines of which it has been shown: their points as given stand for those on draws, which are not run.
    donors : dict of str to str
        Points without a mechanism, by identity, and the same point with it, whose rows are taken where nothing that the
        mechanism moves counted there.
    missing : dict of str to str
        Lines this build cannot run, and why.
    notes : list of str
        What else a reader must know.
    """

    paper: Paper
    figures: tuple[Figure, ...]
    quick: bool
    options: dict[Line, dict[str, Any]] = field(default_factory=dict)
    series: list[Series] = field(default_factory=list)
    planned: list[Planned] = field(default_factory=list)
    cases: dict[str, RunCase] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    witnesses: list[Witness] = field(default_factory=list)
    unmoved: set[Line] = field(default_factory=set)
    donors: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _seen: dict[str, list[Group]] = field(default_factory=dict)
    _given: dict[tuple[Line, str, X, int], str] = field(default_factory=dict)

    def experiment(self, series: Sequence[Series] | None = None) -> Experiment:
        """Return it as a sweep.

        Parameters
        ----------
        series : sequence of Series, optional
            A part of it; all by default.

        Returns
        -------
        Experiment
            With a name of its own for each paper.
        """
        title = f"Figures {', '.join(figure.number for figure in self.figures)} of the {self.paper.name} paper"
        own = self.series if series is None else series
        return Experiment(name=f"reproduce_{self.paper.name}", title=title, series=tuple(own))

    def groups(self, series: Sequence[Series] | None = None) -> list[Group]:
        """Return what the sweep plans: points are made once, of which there are tens of thousands.

        Parameters
        ----------
        series : sequence of Series, optional
            As for `experiment`.

        Returns
        -------
        list of Group
            Each content once, in order.
        """
        own = self.series if series is None else series
        groups = (group for one in own for group in self._seen.get(one.model_dump_json()) or plan_series(one))
        return list({group.id: group for group in groups}.values())

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
        """Return the lines that are judged and can be run, each once.

        Returns
        -------
        list of Line
            In the order of the figures.
        """
        lines = dict.fromkeys(line for figure in self.figures for line in figure.lines)
        return [line for line in lines if line in self.options]


def new_plan(paper: Paper, figures: Sequence[Figure], *, quick: bool = False) -> Plan:
    """Return a plan that runs nothing yet.

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
        Lines that this build cannot run stand in `Plan.missing`.
    """
    plan = Plan(paper, tuple(figures), quick)
    for line in dict.fromkeys(line for figure in figures for line in (*figure.lines, *figure.beside)):
        try:
            plan.options[line] = _options(line, plan)
        except UsageError as error:
            plan.missing[describe(line)] = str(error)
    return plan


def _known(line: Line) -> set[str]:
    """Return the options that a line's kernel and conduit have."""
    entry = catalogue()
    kernel = entry.kernel(line.kernel)
    return {option.name for option in (*kernel.options, *entry.conduit(line.conduit, kernel).options)}


def _options(line: Line, plan: Plan) -> dict[str, Any]:
    """Return what a line asks for in this build."""
    there = _known(line)
    for name, value in line.options:
        if name not in there:
            raise UsageError(f"this build of {line.conduit} has no option {name}={value}", name)
    for name, value in line.wanted:
        note = f"this build has no option {name}={value} of {line.kernel} on {line.conduit}; it was run without"
        if name not in there and note not in plan.notes:
            plan.notes.append(note)
    return {name: value for name, value in (*line.options, *line.wanted) if name in there}


def spots_of(plan: Plan, figure: Figure, lines: Iterable[Line], *, drawn: bool = False) -> list[Spot]:
    """Return every line at every x of a figure.

    Parameters
    ----------
    plan : Plan
        Which knows what can be run.
    figure : Figure
        Whose axis.
    lines : iterable of Line
        Some of its lines.
    drawn : bool, default False
        Only at the x that are run on draws.

    Returns
    -------
    list of Spot
        Lines in order, each from left to right.
    """
    effort = plan.effort(figure)
    xs = (effort.drawn or effort.xs) if drawn else effort.xs
    spots = [Spot(line, figure.x_of(x, effort)) for line in lines if line in plan.options for x in xs]
    return [spot for spot in spots if not drawn or spot.x <= spot.line.drawn_to]


def plan_given(plan: Plan, lengths: Mapping[tuple[str, Spot], int], *, left_out: Collection[Spot] = ()) -> list[Series]:
    """Plan the machines as given: every line of every figure at the lengths that are to be tried now.

    Parameters
    ----------
    plan : Plan
        To which points are added.
    lengths : mapping of tuple to int
        By placement and spot: operations of each rank.
    left_out : collection of Spot, optional
        What is not run of it.

    Returns
    -------
    list of Series
        What is new of it.
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
    """Return the modelled ones of some lines whose metric no price moves."""
    unpriced = {name for name, metric in catalogue().metrics.items() if not metric.priced}
    return [line for line in lines if line.machine and (line.counted or line.metric in unpriced)]


def shown_alone(plan: Plan) -> set[Spot]:
    """Return where lines whose metric no price moves are run as given alone, with jobs too large for draws.

    Parameters
    ----------
    plan : Plan
        Which knows what can be run.

    Returns
    -------
    set of Spot
        Four times the work would be most of what a figure takes, and is run at the other x.
    """
    alone: set[Spot] = set()
    for figure in plan.figures:
        lines = _without_price((*figure.lines, *figure.beside))
        alone |= {*spots_of(plan, figure, lines)} - {*spots_of(plan, figure, lines, drawn=True)}
    return alone


def plan_witnesses(plan: Plan, lengths: Mapping[tuple[str, Spot], int]) -> list[Series]:
    """Plan a few draws of the lines whose metric no price moves, to see whether sizes and counts do.

    Parameters
    ----------
    plan : Plan
        To which they are added; the machines as given are planned already.
    lengths : mapping of tuple to int
        By placement and spot: operations of each rank.

    Returns
    -------
    list of Series
        What is new of it; empty where every line has a price.
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
    """Plan whole figures on draws, and lines without a mechanism.

    Nothing here knows what papers state: what is run is the same whether anybody judges it or not.

    Parameters
    ----------
    plan : Plan
        To which points are added.
    cases : sequence of RunCase
        Draws, draws of the null model, mechanisms taken away.
    lengths : mapping of tuple to int
        By placement and spot: operations of each rank.

    Returns
    -------
    list of Series
        What is new of it.
    """
    series: list[Series] = []
    for case in cases:
        plan.cases[case.name] = case
        for figure in plan.figures:
            lines = figure.lines if case.without is None else [one for one in case.without.lines if one in figure.lines]
            for placement, line in itertools.product(_placements(figure, case), lines):
                spots = spots_of(plan, figure, [line], drawn=case.without is None)
                wanted = {spot.x: lengths[placement, spot] for spot in spots if (placement, spot) in lengths}
                series += _plan_line(plan, figure, line, case=case, placement=placement, role=case.kind, wanted=wanted)
    return series


def _placements(figure: Figure, case: RunCase) -> tuple[str, ...]:
    """Return the placement of a draw; a mechanism is taken away on all of them."""
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
    """Return what is new of a line at some x, and its points; those of one length share a series.

    A point is the same, and has the same name, whichever others of its series are left out.
    """
    if line not in plan.options or case.name in plan.refused or describe(line) in plan.missing:
        return [], []
    new: list[Series] = []
    points: list[tuple[X, int, Point]] = []
    try:
        options = {**plan.options[line], **case.options(line, _known(line))}
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
        made = (point for group in plan._seen[text] for point in group.points)
        points += [(x, length, point) for x, point in zip(xs, made, strict=False)]
    plan.series += new
    return new, points


def _refuse(plan: Plan, line: Line, case: RunCase, error: UsageError) -> None:
    """Keep why something cannot be planned: a case that its machine refuses, or a line that this build has not."""
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
    """Return the option that is the axis, as it was given."""
    if figure.axis in {RANKS, SIZE}:
        return {}
    return {figure.axis: tuple(given for given in effort.xs if figure.x_of(given, effort) in set(xs))}


def _budget(line: Line, figure: Figure, xs: Sequence[X], length: int) -> dict[str, Any]:
    """Return one block, with the time it is expected to take so that progress knows what is left."""
    if not line.machine:
        return {}  # measured: as long as any measurement
    ranks = [int(x) for x in xs] if figure.axis == RANKS else [line.ranks]
    mean = sum(ranks) / len(ranks)
    seconds = round(mean * (_S_PER_RANK + length * _S_PER_OPERATION), 3)
    return {"iterations": length, "blocks": 1, "time_s": max(seconds, 0.001)}
