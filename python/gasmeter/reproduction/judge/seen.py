"""Evidence for the judge: the same from a run that has just ended as from a folder's files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gasmeter.arguments.choices import Blind
from gasmeter.machines.named import machine
from gasmeter.reproduction.judge.checked import Checks, checked, estimates_of
from gasmeter.reproduction.judge.gathering import Gathered, evidence, gather, values_of
from gasmeter.reproduction.judge.judged import Judged, Used, judge_figures
from gasmeter.reproduction.plan.cases import DRAWN, RunCase
from gasmeter.reproduction.plan.choosing import Choice
from gasmeter.reproduction.plan.figure import Figure, Paper
from gasmeter.reproduction.plan.planning import Planned
from gasmeter.rows.record import Row
from gasmeter.verdicts.judging import Judgement

__all__ = ["Seen", "refused_cases"]


@dataclass
class Seen:
    """All evidence of verdicts."""

    paper: Paper
    figures: tuple[Figure, ...]
    planned: Sequence[Planned]  # every point with its purpose
    cases: Mapping[str, RunCase]  # by name
    rows: Sequence[Row]  # columns of results.csv
    counters: Sequence[Row]  # columns of counters
    refused: Mapping[str, str]  # draws that a machine refuses, with the reason
    used: Used  # machine numbers that each figure depended on
    suites: Mapping[str, Judgement]  # results of the conformance suite, by conduit
    choice: Choice = field(default_factory=Choice)  # draws that were run
    gathered: Gathered = field(init=False)  # values of every line, made from the rows
    checks: Checks = field(init=False)  # check rows of the machines, made from the rows

    def __post_init__(self) -> None:
        names = dict.fromkeys(name for figure in self.figures for name in figure.machines)
        self.gathered = gather(self.planned, values_of(self.rows, self.counters))
        self.checks = checked([machine(name) for name in names], self.rows)

    def judge(self, blind: Blind | None = None) -> list[Judged]:
        """Judge every result claim of the paper, in the order of the figures; ``not_run`` if the figure was not run.

        `blind` removes or triples the paper's results.
        """
        seen = {}
        for figure in self.figures:
            names = _machines(figure, self.figures)
            seen[figure.number] = evidence(
                self.paper, figure, self.gathered, cases=self.cases, estimates=estimates_of(self.cases, names),
                effective=self.choice.worth(names), refused=self.refused,
            )  # fmt: skip
        return judge_figures(
            self.paper, self.figures, seen, used=self.used, suites=self.suites, failing=self.checks.failing(),
            blind=blind,
        )  # fmt: skip


def _machines(figure: Figure, ran: Iterable[Figure]) -> tuple[str, ...]:
    """Return the machines of a figure's lines and of other figures' lines that its claims read."""
    beyond = [other for other in ran if other.number in figure.beyond]
    return tuple(dict.fromkeys(name for drawn in (figure, *beyond) for name in drawn.machines))


def refused_cases(planned: Iterable[Planned], rows: Iterable[Row], refusals: Mapping[str, str]) -> dict[str, str]:
    """Return the draws with a refused point, by name, and the reason; `refusals` holds reasons by point."""
    run_ids = {row["run_id"] for row in rows}
    absent: dict[str, str] = {}
    for point in planned:
        if point.case not in absent and point.run_id not in run_ids and point.case.split()[0] in DRAWN:
            absent[point.case] = refusals.get(point.run_id, "not run")
    return absent
