"""Runs the figures of a paper, judges its claims, and keeps everything in one folder."""

from __future__ import annotations

import functools
import math
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gasmeter.choices import Blind
from gasmeter.conformance import Part, Suite, conformance_program, plan_suite
from gasmeter.errors import EnvironmentLacks, UsageError
from gasmeter.machines.machine import Machine
from gasmeter.machines.named import machine
from gasmeter.machines.provenance import label
from gasmeter.measuring.execution import Progress, execute
from gasmeter.measuring.runner import GroupOutcome, Runner
from gasmeter.reproduction.figure import Figure, Line, Paper
from gasmeter.reproduction.planning import GIVEN, Plan, Planned, Role, describe, plan_reproduction
from gasmeter.reproduction.timing import Stage, Took, seconds_facts, took
from gasmeter.rows.record import Row
from gasmeter.stores.result import Result
from gasmeter.stores.store import add_to_run
from gasmeter.sweeps.point import Group
from gasmeter.verdicts.claims import RESULT, Claim, claims
from gasmeter.verdicts.judging import Case, Judgement, Trial, judge_claim
from gasmeter.verdicts.predicates import Predicate, SeriesKey, predicates
from gasmeter.verdicts.suites import judge_suite

__all__ = ["Judged", "Reproduction", "judge_all", "reproduce"]

_MOST_RUNS = 200
"""Of cases in a process of the conformance suite: a few seconds, so that no worker waits long for the last."""


@dataclass(frozen=True)
class Judged:
    """A claim and what became of it.

    Attributes
    ----------
    claim : Claim
        What the paper states.
    predicate : Predicate
        How it is judged.
    figure : Figure
        The figure that carries it.
    judgement : Judgement
        The outcome.
    label : str
        ``calibrated`` or ``predicted``: computed from what the machine's numbers know; empty where nothing was run.
    """

    claim: Claim
    predicate: Predicate
    figure: Figure
    judgement: Judgement
    label: str


@dataclass
class Reproduction:
    """What came out.

    Attributes
    ----------
    plan : Plan
        What was run and why.
    result : Result
        Rows of every point.
    judged : list of Judged
        Every result claim of the paper, in the order of its figures.
    seconds : float
        What the run took.
    processor_seconds : float
        Of processors meanwhile: user and system, with its children.
    jobs : int
        Points that ran at the same time.
    took : list of Took
        What each part of it took, the slowest first.
    suites : dict of str to Suite or str
        What the conformance suite found, by conduit, or why it was not run there.
    """

    plan: Plan
    result: Result
    judged: list[Judged] = field(default_factory=list)
    seconds: float = 0.0
    processor_seconds: float = 0.0
    jobs: int = 1
    took: list[Took] = field(default_factory=list)
    suites: dict[str, Suite | str] = field(default_factory=dict)

    def values(self, line: Line, placement: str, role: Role = "figure", variant: str = GIVEN) -> dict[int, float]:
        """Return what a line came to.

        Parameters
        ----------
        line : Line
            Which.
        placement : str
            On which placement.
        role : {"figure", "longer", "band", "factor"}
            In which run.
        variant : str
            On which variant of the machine.

        Returns
        -------
        dict of int to float
            By ranks or size; without points that were not run or did not verify.
        """
        return self.tables(role).get((variant, placement), {}).get(line, {})

    def used(self, figure: Figure, base: Machine) -> tuple[str, ...]:
        """Return the numbers of a machine that a figure depended on.

        Parameters
        ----------
        figure : Figure
            One that was run.
        base : Machine
            A machine of its lines, as its file describes it.

        Returns
        -------
        tuple of str
            Keys, in the machine's order: what any point of its lines on any variant of the machine has used.
        """
        lines = {line for line in figure.lines if line.machine == base.name}
        points = {planned.run_id for planned in self.plan.planned if planned.line in lines}
        keys = {number.key for number in base.numbers}
        left = set(keys)
        for name in points:
            left &= self.unused.get(name, set())
        return tuple(number.key for number in base.numbers if points and number.key not in left)

    @functools.cached_property
    def unused(self) -> dict[str, set[str]]:
        """Numbers of the machine that nothing depended on, by point."""
        unused = {name: set(keys) for record in self.result.records for name, keys in record.unused.items()}
        rows = {row["run_id"] for row in self.result.rows}
        return {name: keys for name, keys in unused.items() if name in rows}

    def tables(self, role: Role) -> Mapping[tuple[str, str], Mapping[Line, dict[int, float]]]:
        """Return the values of every line of one run, by variant and placement.

        Parameters
        ----------
        role : {"figure", "longer", "band", "factor"}
            Which run.

        Returns
        -------
        mapping
            Of variant and placement to lines to ranks or size to values.
        """
        return self._tables.get(role, {})

    @functools.cached_property
    def _tables(self) -> dict[Role, dict[tuple[str, str], dict[Line, dict[int, float]]]]:
        """Values by role: reports ask for them line by line."""
        values = {(row["run_id"], row["metric"]): row["value"] for row in self.result.rows if _counts(row)}
        tables: dict[Role, dict[tuple[str, str], dict[Line, dict[int, float]]]] = {}
        for planned in self.plan.planned:
            lines = tables.setdefault(planned.role, {}).setdefault((planned.variant, planned.placement), {})
            value = values.get((planned.run_id, planned.line.metric))
            if value is not None:
                lines.setdefault(planned.line, {})[planned.x] = value
        return tables

    def run_id(self, line: Line, placement: str, x: int) -> str:
        """Return the name of a point of a figure.

        Parameters
        ----------
        line : Line
            Which line.
        placement : str
            On which placement.
        x : int
            At which number of ranks, or size.

        Returns
        -------
        str
            As column ``run_id`` has it; empty if it was not planned.
        """
        wanted = ("figure", line, placement, x)
        points = (planned for planned in self.plan.planned if _at(planned) == wanted)
        return next((planned.run_id for planned in points), "")


def _at(planned: Planned) -> tuple[str, Line, str, int]:
    return planned.role, planned.line, planned.placement, planned.x


def _counts(row: Row) -> bool:
    return bool(row["verified"]) and not row["reference"] and math.isfinite(row["value"])


class _Tolerant(Runner):
    """A runner for which a point that a machine refuses is an outcome; keeps links of the points that show them."""

    def __init__(self, shown: set[str]) -> None:
        super().__init__()
        self._shown = shown

    def measure(self, group: Group) -> GroupOutcome:
        """Measure a group, or say why it cannot be."""
        try:
            outcome = super().measure(group)
        except UsageError as error:
            return GroupOutcome(group, [], notes=[f"not run: {group.points[0].describe()}: {error}"])
        for entry in outcome.outcomes:
            if entry.point.id not in self._shown:
                entry.links = {}
        return outcome


def reproduce(
    paper: Paper,
    figures: Sequence[Figure],
    *,
    out: str | Path | None = None,
    quick: bool = False,
    jobs: int = 1,
    resume: bool = False,
    blind: Blind | None = None,
    progress: Callable[[Progress], None] | None = None,
    origin: Mapping[str, Any] | None = None,
) -> Reproduction:
    """Run figures of a paper and judge its claims.

    Parameters
    ----------
    paper : Paper
        Whose figures.
    figures : sequence of Figure
        Which; see `gasmeter.reproduction.papers.figures_of`.
    out : str or Path, optional
        Folder of the store: rows, samples, links, run.json, which says what each line took.
    quick : bool, default False
        Fewer updates and no bands: nothing is decided.
    jobs : int, default 1
        Points that run at the same time; a run of every figure has the conformance suite among them.
    resume : bool, default False
        Continue what the folder holds.
    blind : {"removed", "tripled"}, optional
        Judge with the paper's results removed or tripled; the rows must be the same.
    progress : callable, optional
        Told before and after every point, and every part of the suite.
    origin : mapping, optional
        Where options came from, for run.json.

    Returns
    -------
    Reproduction
        Rows and judgements.

    Raises
    ------
    UsageError, ResourceError, BrokenJob
        As `gasmeter.measuring.execution.execute`; the store keeps what is done.
    KeyboardInterrupt
        On Ctrl-C; the store keeps what is done.
    """
    started, processor = time.monotonic(), _processor_s()
    plan = plan_reproduction(paper, figures, quick=quick)
    suites = _planned_suites(plan, blind)
    parts = [part for suite in suites.values() if not isinstance(suite, str) for part in suite[1]]
    once: dict[Stage, float] = {"planning": time.monotonic() - started}
    with _Tolerant(_heat_points(plan)) as runner:
        result = execute(
            plan.experiment(), out=out, jobs=jobs, resume=resume, runner=runner, progress=progress, origin=origin,
            bare=True, donors=plan.donors, beside=parts,
        )  # fmt: skip
    reproduction = Reproduction(plan, result, jobs=jobs)
    if not result.rows:
        why = next(iter([*result.notes, *plan.missing.values()]), "no line is left")
        raise UsageError(f"no point of figures {', '.join(figure.number for figure in figures)} could be run: {why}")
    ran = time.monotonic()
    reproduction.suites = {conduit: _told(suite) for conduit, suite in suites.items()}
    reproduction.judged = judge_all(reproduction, blind=blind)
    once["judging"] = time.monotonic() - ran
    reproduction.took = took(plan, result, reproduction.suites, once)
    reproduction.seconds, reproduction.processor_seconds = time.monotonic() - started, _processor_s() - processor
    if out is not None:
        facts = seconds_facts(
            reproduction.took, wall=reproduction.seconds, processor=reproduction.processor_seconds, jobs=jobs
        )
        add_to_run(Path(out), {"seconds": facts})
    return reproduction


def _processor_s() -> float:
    """Return the seconds that processors have spent on this process and its children that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def _planned_suites(plan: Plan, blind: Blind | None) -> dict[str, tuple[Suite, list[Part]] | str]:
    """Return what is run of the conformance suite on the conduits that statements of a paper call for, or why not."""
    how = predicates(blind=blind)
    names = (name for figure in plan.paper.figures for name in figure.claims)
    wanted = dict.fromkeys(how[name].suite for name in names if name in how and how[name].suite)
    if plan.quick or any(figure.lines and figure not in plan.figures for figure in plan.paper.figures):
        return dict.fromkeys(wanted, "the conformance suite runs with every figure of the paper, and not quickly")
    suites: dict[str, tuple[Suite, list[Part]] | str] = {}
    for conduit in wanted:
        try:
            suites[conduit] = plan_suite(conformance_program(), (conduit,), most_runs=_MOST_RUNS)
        except (EnvironmentLacks, UsageError) as error:  # figures are run without it
            suites[conduit] = str(error)
    return suites


def _told(planned: tuple[Suite, list[Part]] | str) -> Suite | str:
    """Return what a suite found, all its parts having ended."""
    if isinstance(planned, str):
        return planned
    suite, parts = planned
    for part in parts:
        part.tell(suite)
    return suite


def _heat_points(plan: Plan) -> set[str]:
    wanted = {(line, ranks) for figure in plan.figures for line in figure.heat_lines for ranks in figure.heat_ranks}
    return {
        planned.run_id for planned in plan.planned
        if planned.role == "figure" and (planned.line, planned.x) in wanted
    }  # fmt: skip


def judge_all(reproduction: Reproduction, *, blind: Blind | None = None) -> list[Judged]:
    """Judge every result claim of a paper.

    Parameters
    ----------
    reproduction : Reproduction
        Rows and why they were run.
    blind : {"removed", "tripled"}, optional
        With the paper's results removed or tripled.

    Returns
    -------
    list of Judged
        In the order of the figures; claims of figures that were not run are ``not_run``.
    """
    known = {claim.id: claim for claim in claims(reproduction.plan.paper.name, kind=RESULT, blind=blind)}
    how = predicates(blind=blind)
    band, factors = _cases(reproduction, "band"), _cases(reproduction, "factor")
    trial = Trial(_cases(reproduction, "figure").pop(GIVEN), band.pop(GIVEN), tuple(band.values()), factors.pop(GIVEN),
                  tuple(factors.values()))  # fmt: skip
    judged: dict[str, Judged] = {}
    for figure in reproduction.plan.paper.figures:
        for name in figure.claims:
            if name not in known or name not in how:
                continue
            if how[name].suite in reproduction.suites:
                judgement = _by_suite(reproduction.suites[how[name].suite], how[name].suite)
            else:
                judgement = _judge(how[name], figure, reproduction.plan, _of(figure, reproduction.plan, trial), judged)
            ran = figure.lines and not math.isnan(judgement.value)
            tag = _label(name, figure, reproduction) if ran else ""
            judged[name] = Judged(known[name], how[name], figure, judgement, tag)
    return list(judged.values())


def _by_suite(outcome: Suite | str, conduit: str) -> Judgement:
    return Judgement("not_run", notes=[outcome]) if isinstance(outcome, str) else judge_suite(outcome, conduit)


def _of(figure: Figure, plan: Plan, trial: Trial) -> Trial:
    """Return a trial with the variants and points that were run for a figure: those of others say nothing of it."""
    effort = plan.effort(figure)
    keys = {line.key for line in figure.lines}

    def own(case: Case | None, xs: tuple[int, ...]) -> Case | None:
        """Return a case with the points of this figure's lines; lines of other figures keep theirs."""
        if case is None:
            return None
        tables = {
            placement: {
                key: {x: value for x, value in values.items() if key not in keys or x in xs}
                for key, values in table.items()
            }
            for placement, table in case.tables.items()
        }
        return replace(case, tables=tables)

    def those(cases: Iterable[Case], role: Role, xs: tuple[int, ...]) -> tuple[Case, ...]:
        names = plan.moved.get((figure.number, role), set())
        return tuple(kept for case in cases if case.name in names and (kept := own(case, xs)) is not None)

    return replace(
        trial,
        band_given=own(trial.band_given, effort.band_xs),
        band=those(trial.band, "band", effort.band_xs),
        factor_given=own(trial.factor_given, effort.factor_xs),
        factors=those(trial.factors, "factor", effort.factor_xs),
    )


def _label(claim: str, figure: Figure, reproduction: Reproduction) -> str:
    """Return ``calibrated`` if the claim touched a fact on which a number rests that its figure depended on."""
    said = {label(base, claim, reproduction.used(figure, base)) for base in map(machine, figure.machines)}
    return "calibrated" if "calibrated" in said else "predicted"


def _judge(
    predicate: Predicate, figure: Figure, plan: Plan, trial: Trial, judged: Mapping[str, Judged]
) -> Judgement:  # fmt: skip
    if predicate.undecidable or predicate.suite:
        return judge_claim(predicate, trial)
    if not figure.lines:
        return Judgement("not_run", notes=[figure.left_out])
    if figure not in plan.figures:
        return Judgement("not_run", notes=[f"figure {figure.number} was not asked for"])
    only = list(figure.placements)
    if predicate.needs:
        first = judged.get(predicate.needs)
        if first is None or math.isnan(first.judgement.value):
            return Judgement("not_run", notes=[f"{predicate.needs} was not run"])
        only = [placement for placement, holds in first.judgement.holds.items() if holds and placement in only]
        if not only:
            values = judge_claim(predicate, trial, only=figure.placements).by_placement
            said = ", ".join(f"{value:.3g} ({placement})" for placement, value in values.items())
            notes = [f"{predicate.needs} does not hold as given", f"here the quantity is {said}" if said else ""]
            return Judgement("not_run", notes=[note for note in notes if note])
    judgement = judge_claim(predicate, trial, only=only)
    lines = [line for line in figure.lines if any(key.matches(line.key) for key in predicate.series.values())]
    notes = [plan.missing[text] for line in lines if (text := describe(line)) in plan.missing]
    judgement.notes.extend(dict.fromkeys(notes))
    return judgement


def _cases(reproduction: Reproduction, role: Role) -> dict[str, Case]:
    """Return what one run found on each variant; the machines as given are always among them.

    Lines between two nodes belong to every placement: a claim may need them beside lines of many ranks.
    """
    pairs = {line for figure in reproduction.plan.figures if figure.axis == "size" for line in figure.lines}
    everywhere: dict[str, dict[SeriesKey, dict[int, float]]] = {}
    tables: dict[str, dict[str, dict[SeriesKey, dict[int, float]]]] = {GIVEN: {}}
    for (name, placement), lines in reproduction.tables(role).items():
        tables.setdefault(name, {})[placement] = {line.key: values for line, values in lines.items()}
        both = {line.key: values for line, values in lines.items() if line in pairs}
        everywhere.setdefault(name, {}).update(both)
    for name, by_placement in tables.items():
        for table in by_placement.values():
            table.update(everywhere.get(name, {}))
    variants = reproduction.plan.variants
    return {name: Case(name, variants[name].parameter, variants[name].kind, own) for name, own in tables.items()}
