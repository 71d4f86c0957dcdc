"""Run the figures of a paper, first as given, then on draws; judge its claims; keep everything in one folder."""

from __future__ import annotations

import functools
import math
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gasmeter.arguments.choices import Blind
from gasmeter.checking import check_draws
from gasmeter.diagnosis.conformance import Part, Suite, conformance_program, plan_suite
from gasmeter.errors import EnvironmentLacks, UsageError
from gasmeter.machines.machine import Machine
from gasmeter.measuring.execution import Progress, Run, execute
from gasmeter.measuring.runner import GroupOutcome, Runner
from gasmeter.reproduction.judge.checked import Checks, check_series
from gasmeter.reproduction.judge.facets import check_predicates
from gasmeter.reproduction.judge.frozen import method_digest
from gasmeter.reproduction.judge.gathering import Gathered, gather, unmoved, values_of
from gasmeter.reproduction.judge.judged import Judged
from gasmeter.reproduction.judge.seen import Seen, refused_cases
from gasmeter.reproduction.plan.cases import DRAWN, GIVEN, RunCase, conditioned_draws, null_draws, prior_draws
from gasmeter.reproduction.plan.choosing import Candidates, Choice, choose_draws
from gasmeter.reproduction.plan.figure import Extra, Figure, Line, Paper, describe
from gasmeter.reproduction.plan.planning import (
    LONGER,
    NEXT,
    Plan,
    Spot,
    new_plan,
    plan_cases,
    plan_given,
    plan_witnesses,
    shown_alone,
    spots_of,
)
from gasmeter.reproduction.run.folder import write_evidence
from gasmeter.reproduction.run.timing import Stage, Took, seconds_facts, took
from gasmeter.stores.result import Result
from gasmeter.stores.store import add_to_run
from gasmeter.sweeps.point import Group
from gasmeter.verdicts.judging import Judgement
from gasmeter.verdicts.predicates import Predicate, predicates
from gasmeter.verdicts.series import COUNTER
from gasmeter.verdicts.suites import judge_suite

__all__ = ["NOT_RUN", "Reproduction", "reproduce"]

NOT_RUN = "not run: "
"""Beginning of the note on a point that was not run: its run_id, its description, the reason."""

_MOST_RUNS = 200
"""Runs of conformance cases in one process of the suite: a few seconds, so that no worker waits long for the last."""


@dataclass
class Reproduction:
    """Rows and verdicts of a reproduction."""

    plan: Plan  # points with their purpose
    result: Result  # rows of every point
    judged: list[Judged] = field(default_factory=list)  # every result claim of the paper, in the order of its figures
    seconds: float = 0.0  # duration of the run
    processor_seconds: float = 0.0  # user and system time, children included
    jobs: int = 1  # points that ran at the same time
    took: list[Took] = field(default_factory=list)  # duration of each part, the slowest first
    suites: dict[str, Judgement] = field(default_factory=dict)  # results of the conformance suite, by conduit
    candidates: Candidates = field(default_factory=dict)  # check rows of every draw of each machine
    choice: Choice = field(default_factory=Choice)  # draws that were run
    method: str = ""  # digest of all that decides
    # The paper's own tables, by number of the figure above them
    tables: dict[str, Sequence[Extra]] = field(default_factory=dict)

    @functools.cached_property
    def seen(self) -> Seen:
        """Evidence of the verdicts."""
        rows, plan = self.result.rows, self.plan
        notes = [note.removeprefix(NOT_RUN).split(": ", 1) for note in self.result.notes if note.startswith(NOT_RUN)]
        why = {point: text.rpartition(": ")[2] for point, text in notes}
        refused = {**plan.refused, **refused_cases(plan.planned, rows, why)}
        used = {
            figure.number: {base.name: self.used(figure, base) for base in plan.machines()
                            if base.name in figure.machines}
            for figure in plan.figures
        }  # fmt: skip
        return Seen(
            plan.paper, plan.figures, plan.planned, plan.cases, rows, self.result.counter_rows(), refused, used,
            self.suites, self.choice,
        )  # fmt: skip

    @property
    def gathered(self) -> Gathered:
        """Values of every line."""
        return self.seen.gathered

    @property
    def checks(self) -> Checks:
        """Check rows of the machines as given."""
        return self.seen.checks

    def values(self, line: Line, placement: str, case: str = GIVEN) -> dict[int | float, float]:
        """Return the values of a line by x, as given by default; empty if it was not run."""
        if case != GIVEN:
            return self.gathered.values(line, placement, case, self.plan.cases[case].kind)
        values = self.gathered.values(line, placement)
        return values or self.gathered.values(line, placement, GIVEN, "beside")

    def used(self, figure: Figure, base: Machine) -> tuple[str, ...]:
        """Return the keys of a machine's numbers, in its order, that any point of a figure as given depended on."""
        lines = {line for line in figure.lines if line.machine == base.name}
        points = {point.run_id for point in self.plan.planned if point.line in lines and point.case == GIVEN}
        left = {number.key for number in base.numbers}
        for name in points:
            left &= self._unused.get(name, set())
        return tuple(number.key for number in base.numbers if points and number.key not in left)

    @functools.cached_property
    def _unused(self) -> dict[str, set[str]]:
        """Machine numbers that nothing depended on, by point."""
        return {name: set(keys) for record in self.result.records for name, keys in record.unused.items()}

    def run_id(self, line: Line, placement: str, x: int) -> str:
        """Return the run_id of the point behind a figure's value; empty if it was not planned."""
        length = self.gathered.lengths.get((placement, Spot(line, x)))
        wanted = (GIVEN, line, placement, x, length)
        points = (
            point
            for point in self.plan.planned
            if (point.case, point.line, point.placement, point.x, point.length) == wanted
        )
        return next((point.run_id for point in points), "")


class _Tolerant(Runner):
    """A runner that accepts a machine's refusal as an outcome and, for most points, keeps timed values only."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self._plan = plan
        self._seen_points = 0  # planned points that were read so far
        self._with_links: set[str] = set()
        self._with_counters: set[str] = set()

    def measure(self, group: Group) -> GroupOutcome:
        """Measure a group, or return why it cannot be measured."""
        try:
            outcome = super().measure(group)
        except UsageError as error:
            point = group.points[0]
            return GroupOutcome(group, [], notes=[f"{NOT_RUN}{point.id}: {point.describe()}: {error}"])
        self._learn()
        for entry in outcome.outcomes:
            if entry.point.id not in self._with_links:
                entry.links = {}
            if entry.point.id not in self._with_counters:  # nobody reads the counters of tens of thousands of draws
                entry.counters, entry.unused = {}, ()
        return outcome

    def _learn(self) -> None:
        """Read the points planned since: links for figures that show them, counters for all but draws."""
        planned = self._plan.planned
        if len(planned) == self._seen_points:
            return
        heat = {(line, ranks) for figure in self._plan.figures for line in figure.heat_lines
                for ranks in figure.heat_ranks}  # fmt: skip
        for point in planned[self._seen_points :]:
            if point.case == GIVEN and (point.line, point.x) in heat:
                self._with_links.add(point.run_id)
            if point.role not in DRAWN or point.line.metric.startswith(COUNTER):
                self._with_counters.add(point.run_id)
        self._with_counters |= {
            witness.run_id for witness in self._plan.witnesses if witness.line.metric.startswith(COUNTER)
        }
        self._seen_points = len(planned)


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

    `quick` runs fewer operations and no draws, and decides nothing. `jobs` points run at the same time; a run of every
    figure includes the conformance suite. `blind` judges with the paper's results removed or tripled, from the same
    rows. A predicate on lines that are not run is refused before anything runs. Raises as
    `gasmeter.measuring.execution.execute`; the store keeps finished points, also on Ctrl-C. With `resume`
    `execute` decides which groups of the folder are done. Check rows of draws and the conformance suite run again.
    """
    started, processor = time.monotonic(), _processor_s()
    how = predicates()
    check_predicates(paper, how)
    plan = new_plan(paper, figures, quick=quick)
    suites = _planned_suites(plan, how)
    parts = [part for suite in suites.values() if not isinstance(suite, str) for part in suite[1]]
    once: dict[Stage, float] = {"planning": time.monotonic() - started}
    with _folder(out) as folder, _Tolerant(plan) as runner:
        run = Run(
            out=folder, jobs=jobs, resume=resume, runner=runner, progress=progress, origin=origin or {}, bare=True
        )
        result = _run_given(plan, run)
        if not result.rows:
            why = next(iter([*result.notes, *plan.missing.values()]), "no line is left")
            raise UsageError(
                f"no point of figures {', '.join(figure.number for figure in figures)} could be run: {why}"
            )
        began = time.monotonic()
        reproduction = Reproduction(plan, result, jobs=jobs, tables=_tables(plan, result))
        once["tables"] = time.monotonic() - began
        if not quick:
            began = time.monotonic()
            _tell(progress, plan, "choosing draws by what the machines' check rows come to")
            reproduction.candidates = {
                installed.name: check_draws(installed.name, jobs=jobs) for installed in plan.machines()
            }
            reproduction.choice = choose_draws(plan.machines(), reproduction.candidates)
            once["draws"] = time.monotonic() - began
            _tell(progress, plan, "planning the figures on every draw")
            result = reproduction.result = _run_draws(plan, reproduction.choice, result, run, parts)
        ran = time.monotonic()
        results = {conduit: _suite_or_reason(suite) for conduit, suite in suites.items()}
        reproduction.suites = {conduit: _of_suite(suite, conduit) for conduit, suite in results.items()}
        reproduction.method = method_digest(paper)
        reproduction.judged = reproduction.seen.judge(blind)
        once["judging"] = time.monotonic() - ran
        reproduction.took = took(plan, result, results, once)
        reproduction.seconds, reproduction.processor_seconds = time.monotonic() - started, _processor_s() - processor
        if out is not None:
            facts = seconds_facts(
                reproduction.took, wall=reproduction.seconds, processor=reproduction.processor_seconds, jobs=jobs
            )
            add_to_run(Path(out), {"seconds": facts})
            write_evidence(
                reproduction.seen, Path(out), reproduction.candidates, quick=quick, method=reproduction.method
            )
    return reproduction


@contextmanager
def _folder(out: str | Path | None) -> Iterator[str | Path]:
    """Lend a folder to a reproduction that keeps nothing: each phase continues from the last."""
    if out is not None:
        yield out
        return
    with tempfile.TemporaryDirectory(prefix="gasmeter-") as folder:
        yield Path(folder) / "reproduction"


def _run_given(plan: Plan, run: Run) -> Result:
    """Run the machines as given, each line longer until four times the work moves its values by less than 2 %."""
    lengths = {
        (placement, spot): plan.effort(figure).lengths_at(spot.x, spot.line.times)[0]
        for figure in plan.figures
        for placement in figure.placements
        for spot in spots_of(plan, figure, (*figure.lines, *(() if plan.quick else figure.beside)))
    }
    longest = {
        spot: plan.effort(figure).lengths_at(spot.x, spot.line.times)[1]
        for figure in plan.figures
        for spot in spots_of(plan, figure, (*figure.lines, *figure.beside))
    }
    once = shown_alone(plan)
    result = Result([], name="")
    trying = lengths
    while trying:
        new = plan_given(plan, trying)
        if trying is lengths:
            new += check_series(plan.machines())
        if not plan.quick:
            longer = {key: LONGER * length for key, length in trying.items() if key[1].line.machine}
            new += plan_given(plan, longer, left_out=once)
            if trying is lengths:
                new += plan_witnesses(plan, lengths)
        result = execute(plan.experiment(new), replace(run, planned=plan.groups(new)))
        run = replace(run, resume=True)
        if plan.quick:
            break
        values = values_of(result.rows, result.counter_rows())
        gathered, plan.unmoved = gather(plan.planned, values), unmoved(plan.witnesses, values)
        trying = {
            key: NEXT * length
            for key, length in trying.items()
            if key in gathered.unsteady and NEXT * length <= longest[key[1]]
        }
    return result


def _tables(plan: Plan, given: Result) -> dict[str, Sequence[Extra]]:
    """Make the paper's own tables from the runs as given; a failure ends the reproduction before any draw."""
    seen = Reproduction(plan, given)
    return {figure.number: figure.extras(seen, figure) for figure in plan.figures if figure.extras}


def _run_draws(plan: Plan, choice: Choice, given: Result, run: Run, parts: Sequence[Part]) -> Result:
    """Run whole figures on every draw, at the lengths that the machines as given need, and without mechanisms."""
    gathered = gather(plan.planned, values_of(given.rows, given.counter_rows()))
    moved = {
        describe(witness.line): witness.line.metric for witness in plan.witnesses if witness.line not in plan.unmoved
    }
    plan.notes += [f"{line}: draws move {metric}, so that it is run on all of them" for line, metric in moved.items()]
    ablations = [RunCase("ablation", without=mechanism) for mechanism in plan.paper.without]
    plan_cases(plan, [*ablations, *prior_draws(), *conditioned_draws(choice), *null_draws()], gathered.lengths)
    return execute(
        plan.experiment(), replace(run, resume=True, beside=parts, donors=plan.donors, planned=plan.groups())
    )


def _tell(progress: Callable[[Progress], None] | None, plan: Plan, label: str) -> None:
    """Report work between two sweeps whose duration is unknown."""
    if progress is not None:
        progress(Progress(done := len({point.run_id for point in plan.planned}), done, math.nan, label))


def _processor_s() -> float:
    """Return the processor seconds of this process and its ended children."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def _planned_suites(plan: Plan, how: Mapping[str, Predicate]) -> dict[str, tuple[Suite, list[Part]] | str]:
    """Return the conformance suite's processes for the conduits that statements call for, or why there are none."""
    names = (name for figure in plan.paper.figures for name in figure.claims)
    wanted = dict.fromkeys(how[name].suite for name in names if name in how and how[name].suite)
    if plan.quick or any(figure.lines and figure not in plan.figures for figure in plan.paper.figures):
        return dict.fromkeys(wanted, "the conformance suite runs with every figure of the paper, and not quickly")
    suites: dict[str, tuple[Suite, list[Part]] | str] = {}
    for conduit in wanted:
        try:
            suites[conduit] = plan_suite(conformance_program(), (conduit,), most_runs=_MOST_RUNS)
        except (EnvironmentLacks, UsageError) as error:  # figures run without the suite
            suites[conduit] = str(error)
    return suites


def _suite_or_reason(planned: tuple[Suite, list[Part]] | str) -> Suite | str:
    """Return the results of a suite whose parts have all ended."""
    if isinstance(planned, str):
        return planned
    suite, parts = planned
    for part in parts:
        part.tell(suite)
    return suite


def _of_suite(outcome: Suite | str, conduit: str) -> Judgement:
    return Judgement("not_run", notes=[outcome]) if isinstance(outcome, str) else judge_suite(outcome, conduit)
