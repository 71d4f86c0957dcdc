"""What was run, seen by the judge: the same from a run that has just ended as from a folder's files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gasmeter.choices import Blind
from gasmeter.machines.named import machine
from gasmeter.reproduction.cases import DRAWN, RunCase
from gasmeter.reproduction.checked import Checks, checked, estimates_of
from gasmeter.reproduction.choosing import Choice
from gasmeter.reproduction.figure import Figure, Paper
from gasmeter.reproduction.gathering import Gathered, evidence, gather, values_of
from gasmeter.reproduction.judged import Judged, Used, judge_figures
from gasmeter.reproduction.planning import Planned
from gasmeter.rows.record import Row
from gasmeter.verdicts.judging import Judgement

__all__ = ["Seen", "refused_cases"]


@dataclass
class Seen:
    """All that verdicts are made of.

    Attributes
    ----------
    paper : Paper
        Whose figures.
    figures : tuple of Figure
        Which were run.
    planned : sequence of Planned
        Every point and why.
    cases : dict of str to RunCase
        By name.
    rows, counters : sequence of dict
        What came out.
    refused : dict of str to str
        Draws that a machine refuses, and why.
    used : mapping
        Numbers that each figure depended on.
    suites : dict of str to Judgement
        What became of the conformance suite, by conduit.
    choice : Choice
        Which draws were run.
    gathered : Gathered
        Values of every line; made of the rows.
    checks : Checks
        Check rows of the machines; likewise.
    """

    paper: Paper
    figures: tuple[Figure, ...]
    planned: Sequence[Planned]
    cases: Mapping[str, RunCase]
    rows: Sequence[Row]
    counters: Sequence[Row]
    refused: Mapping[str, str]
    used: Used
    suites: Mapping[str, Judgement]
    choice: Choice = field(default_factory=Choice)
    gathered: Gathered = field(init=False)
    checks: Checks = field(init=False)

    def __post_init__(self) -> None:
        names = dict.fromkeys(name for figure in self.figures for name in figure.machines)
        self.gathered = gather(self.planned, values_of(self.rows, self.counters))
        self.checks = checked([machine(name) for name in names], self.rows)

    def judge(self, blind: Blind | None = None) -> list[Judged]:
        """Judge every result claim of the paper.

        Parameters
        ----------
        blind : {"removed", "tripled"}, optional
            With the paper's results removed or tripled.

        Returns
        -------
        list of Judged
            In the order of the figures; claims of figures that were not run are ``not_run``.
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
    """Return the machines of a figure's lines and of those whose lines its claims read, too."""
    beyond = [other for other in ran if other.number in figure.beyond]
    return tuple(dict.fromkeys(name for one in (figure, *beyond) for name in one.machines))


def refused_cases(planned: Iterable[Planned], rows: Iterable[Row], said: Mapping[str, str]) -> dict[str, str]:
    """Return the draws of which a point could not be run, and why.

    Parameters
    ----------
    planned : iterable of Planned
        Every point and why.
    rows : iterable of dict
        What came out.
    said : mapping of str to str
        By point, why it was refused.

    Returns
    -------
    dict of str to str
        By name of the draw.
    """
    there = {row["run_id"] for row in rows}
    absent: dict[str, str] = {}
    for one in planned:
        if one.case not in absent and one.run_id not in there and one.case.split()[0] in DRAWN:
            absent[one.case] = said.get(one.run_id, "not run")
    return absent
