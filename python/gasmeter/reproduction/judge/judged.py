"""Judge every claim of a paper by the gathered evidence: readings, labels, scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gasmeter.arguments.choices import Blind
from gasmeter.machines.named import machine
from gasmeter.machines.provenance import label
from gasmeter.reproduction.plan.figure import Figure, Paper
from gasmeter.verdicts.claims import RESULT, Claim, claims
from gasmeter.verdicts.evidence import Evidence
from gasmeter.verdicts.judging import Judgement, Verdict, judge_predicate
from gasmeter.verdicts.predicates import Predicate, Reading, predicates
from gasmeter.verdicts.scoring import Score, score

__all__ = ["Judged", "Used", "judge_figures", "null_score", "own_score"]

Used = Mapping[str, Mapping[str, Sequence[str]]]
"""Machine numbers that a figure's lines depended on, by figure number and machine name."""


@dataclass(frozen=True)
class Judged:
    """A claim and its verdicts.

    Attributes
    ----------
    claim : Claim
        Statement of the paper.
    predicate : Predicate
        Condition that judges it.
    figure : Figure
        The figure of the claim.
    readings : tuple of Judgement
        Judgements of its readings, the primary one first.
    label : str
        ``calibrated``, ``predicted`` or ``measured``, from the claims behind the machines' numbers; empty if nothing
        was run.
    null : str
        The verdict on the null model; empty without one.
    """

    claim: Claim
    predicate: Predicate
    figure: Figure
    readings: tuple[Judgement, ...]
    label: str
    null: Verdict | str = ""

    @property
    def judgement(self) -> Judgement:
        """Judgement of the primary reading, which is the claim's."""
        return self.readings[0]


def judge_figures(
    paper: Paper, ran: Sequence[Figure], seen: Mapping[str, Evidence], *, used: Used,
    suites: Mapping[str, Judgement], failing: Mapping[str, Sequence[str]], blind: Blind | None = None,
) -> list[Judged]:  # fmt: skip
    """Judge every result claim of a paper, in the order of the figures; ``not_run`` if the figure was not run.

    `seen` holds evidence by figure number, `used` the numbers that each figure depended on, `suites` results of the
    conformance suite by conduit. `failing` maps machines to check rows that they miss as given; affected verdicts
    mention them. `blind` removes or triples the paper's results.
    """
    by_id = {claim.id: claim for claim in claims(paper.name, kind=RESULT, blind=blind)}
    how = predicates(blind=blind)
    first = {name: predicate.readings[0] for name, predicate in how.items() if predicate.readings}
    judged: list[Judged] = []
    for figure in paper.figures:
        for name in figure.claims:
            if name not in by_id or name not in how:
                continue
            predicate = how[name]
            if predicate.suite in suites:
                judgements = [suites[predicate.suite]]
            elif predicate.undecidable or predicate.suite:
                judgements = judge_predicate(predicate, Evidence({}))
            elif figure not in ran:
                why = f"figure {figure.number} was not asked for" if figure.lines else figure.left_out
                judgements = [Judgement("not_run", reading.name, notes=[why]) for reading in predicate.readings]
            else:
                judgements = [
                    _with_machines(judgement, figure, failing)
                    for judgement in judge_predicate(predicate, seen[figure.number], first)
                ]
            is_run = figure in ran and any(not math.isnan(judgement.value) for judgement in judgements)
            tag = _label(name, figure, used) if is_run else ""
            null = _on_null(predicate, seen[figure.number], first) if figure in ran and predicate.readings else ""
            judged.append(Judged(by_id[name], predicate, figure, tuple(judgements), tag, null))
    return judged


def _with_machines(judgement: Judgement, figure: Figure, failing: Mapping[str, Sequence[str]]) -> Judgement:
    """Add the check rows that the figure's machines as given do not meet."""
    failing_rows = [
        f"machine {name} as given does not meet {', '.join(failing[name])}"
        for name in figure.machines
        if failing.get(name)
    ]
    return replace(judgement, notes=[*judgement.notes, *failing_rows]) if judgement.verdict != "not_run" else judgement


def _label(claim: str, figure: Figure, used: Used) -> str:
    """Return ``calibrated`` if the claim touched a fact behind a number that its figure depended on."""
    if not figure.machines:
        return "measured"
    keys = used.get(figure.number, {})
    labels = {label(machine(name), claim, keys.get(name, ())) for name in figure.machines}
    return "calibrated" if "calibrated" in labels else "predicted"


def _on_null(predicate: Predicate, seen: Evidence, first: Mapping[str, Reading]) -> Verdict | str:
    """Return the verdict of the primary reading on the null model: its draws take the place of the machines'."""
    if not seen.nulls:
        return ""
    alone = replace(seen, prior=seen.nulls, draws={}, effective=0.0)
    return judge_predicate(predicate, alone, first)[0].verdict


def own_score(judged: Sequence[Judged]) -> Score:
    """Return the score of the primary readings, by independent quantity."""
    return score((entry.predicate.on, entry.judgement.verdict) for entry in judged)


def null_score(judged: Sequence[Judged]) -> Score:
    """Return the primary readings' score on the null model: software prices off by a factor of 0.5 to 2."""
    return score((entry.predicate.on, entry.null) for entry in judged if entry.null)  # type: ignore[misc]
