"""Judge readings by the values of a figure on its draws, and name the estimates that decide.

A figure is run on each draw. A quantity on a draw is computed from the values of that draw alone. README.md of this
folder is the method.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from gasmeter.verdicts.chances import interval, rank_correlations, share
from gasmeter.verdicts.evidence import STEADY, Case, Evidence
from gasmeter.verdicts.expressions import NotThere
from gasmeter.verdicts.predicates import Condition, Predicate, Reading
from gasmeter.verdicts.quantities import Quantities, points_of, quantities
from gasmeter.verdicts.series import said

__all__ = [
    "FEWEST_EFFECTIVE", "OUTSIDE", "PLACEMENT", "WITHIN", "Judgement", "Verdict", "judge_predicate", "judge_reading",
]  # fmt: skip

Verdict = Literal[
    "within", "outside", "depends", "by_construction", "not_converged", "underdetermined", "not_decidable", "no_band",
    "not_run",
]  # fmt: skip

WITHIN, OUTSIDE = 0.9, 0.1
"""Share of the draws from which on a statement is within, and up to which it is outside."""

FEWEST_EFFECTIVE = 20.0
"""Fewest draws that the check rows have to leave; if they leave fewer, the prior decides and a note says so."""

PLACEMENT = "placement"
"""Name of the placement of ranks among the deciding estimates."""

_STRONG = 0.3
_MOST_DECIDING = 3


@dataclass(frozen=True)
class Judgement:
    """The verdict on one reading of a claim, and the figures behind it.

    Attributes
    ----------
    verdict : str
        The verdict; README.md of this folder lists all.
    reading : str
        Name of the reading; empty for a claim without readings.
    direction : str
        The verdict on the statement without its number; empty if nothing was judged.
    value : float
        The quantity on the machines as given, on the first placement; NaN if there is none.
    median, low, high : float
        Middle and ends of the range that holds 90 % of the draws' quantities; NaN without draws.
    by_placement : dict of str to float
        The quantity as given on each placement.
    holds : dict of str to bool
        Whether the reading holds as given on each placement.
    p_prior, p_conditioned : float
        Share of the draws on which the reading holds: draws from the ranges alone, and draws that the check rows make
        likely. NaN without draws.
    effective : float
        Number of equally likely draws that the check rows leave to choose from.
    draws : int
        Number of draws that decide.
    margin : float
        Distance of the quantity from the nearer end of the allowed range, with the mechanism taken away (below 0:
        outside); NaN if the reading names no mechanism.
    deciding : tuple of tuple of str and float
        The estimates with which the quantity rises or falls most, each with its rank correlation.
    notes : list of str
        Reasons for the verdict, in words.
    """

    verdict: Verdict
    reading: str = ""
    direction: Verdict | Literal[""] = ""
    value: float = math.nan
    median: float = math.nan
    low: float = math.nan
    high: float = math.nan
    by_placement: Mapping[str, float] = field(default_factory=dict)
    holds: Mapping[str, bool] = field(default_factory=dict)
    p_prior: float = math.nan
    p_conditioned: float = math.nan
    effective: float = math.nan
    draws: int = 0
    margin: float = math.nan
    deciding: tuple[tuple[str, float], ...] = ()
    notes: list[str] = field(default_factory=list)

    @property
    def premise_fails(self) -> bool:
        """Whether the claim was run and is not judged, because the claim that has to hold first does not hold."""
        return self.verdict == "not_run" and not math.isnan(self.value)


def judge_predicate(
    predicate: Predicate, evidence: Evidence, needed: Mapping[str, Reading] | None = None
) -> list[Judgement]:  # fmt: skip
    """Judge a claim in all its readings; return one judgement per reading, the primary reading first.

    A claim that cannot be judged here has a single judgement. `evidence` is of the figure that carries the claim.
    `needed` holds the first readings of the claims that have to hold first, by id.
    """
    if predicate.undecidable:
        return [Judgement("not_decidable", notes=[predicate.undecidable])]
    if predicate.suite:
        return [Judgement("not_run", notes=[f"the conformance suite was not run on {predicate.suite}"])]
    judged = [judge_reading(reading, evidence, needed) for reading in predicate.readings]
    if not predicate.withheld:
        return judged
    why = f"the paper withholds {predicate.withheld}"
    return [
        judgement if judgement.verdict == "not_run" else replace(
            judgement, verdict="underdetermined", direction="underdetermined" if judgement.direction else "",
            notes=[why, f"as run here it would be {judgement.verdict}", *judgement.notes],
        )
        for judgement in judged
    ]  # fmt: skip


def judge_reading(reading: Reading, evidence: Evidence, needed: Mapping[str, Reading] | None = None) -> Judgement:
    """Judge one reading by the evidence of the figure that carries it.

    The verdict is ``not_run`` without values and if the premise fails, ``no_band`` without draws. `needed` holds the
    first readings of the claims that have to hold first, by id.
    """
    nominal: dict[str, Quantities] = {}
    missing: list[str] = []
    for placement, table in evidence.given.items():
        try:
            nominal[placement] = quantities(reading, table)
        except NotThere as error:
            missing.append(str(error))
    if not nominal:
        return Judgement("not_run", reading.name, notes=list(dict.fromkeys(missing)) or ["no placement was run"])
    first = Judgement(
        "no_band", reading.name, direction="no_band" if reading.direction else "",
        value=next(iter(nominal.values()))[0],
        by_placement={placement: values[0] for placement, values in nominal.items()},
        holds={placement: _holds(reading, values) for placement, values in nominal.items()},
        notes=list(dict.fromkeys(missing)), effective=evidence.effective,
    )  # fmt: skip
    prior, first = _cases(reading, evidence.prior, needed or {}, first, tell=False)
    cases, first = _cases(reading, evidence.draws, needed or {}, first)
    if first.verdict == "not_run":
        return first
    if not cases and not prior:
        first.notes.append(_as_given(first))
        return first
    judgement = _over_draws(reading, prior, cases, first)
    unmade = len(evidence.draws) + len(evidence.prior) - len(cases) - len(prior)
    judgement.notes.extend(_left_out(evidence, unmade, reading))
    judgement = _ablated(reading, evidence, judgement)
    return _converged(reading, evidence, judgement)


@dataclass(frozen=True)
class _Drawn:
    """A draw with the reading's quantities on it."""

    case: Case
    own: Quantities


def _cases(
    reading: Reading, draws: Mapping[int, Case], needed: Mapping[str, Reading], first: Judgement, *, tell: bool = True
) -> tuple[list[_Drawn], Judgement]:
    """Return the draws that have the quantities and on which the claim that has to hold first holds."""
    drawn: list[_Drawn] = []
    before = needed.get(reading.needs)
    unmet = 0
    for case in draws.values():
        try:
            values = quantities(reading, case.table)
            if before is not None and not _holds(before, quantities(before, case.table)):
                unmet += 1
                continue
        except NotThere:
            continue
        drawn.append(_Drawn(case, values))
    if before is None or not unmet:
        return drawn, first
    left = len(drawn) / (len(drawn) + unmet)
    if not tell:
        return (drawn if left > OUTSIDE else []), first
    said_so = f"judged on the {left:.0%} of the draws on which {reading.needs} holds"
    if left <= OUTSIDE:
        why = f"{reading.needs} holds on {left:.0%} of the draws: nothing is left to judge this by"
        return [], replace(first, verdict="not_run", direction="", notes=[*first.notes, why])
    return drawn, replace(first, notes=[*first.notes, said_so])


def _holds(reading: Reading, values: Quantities) -> bool:
    return all(condition.holds_for(value) for condition, value in zip(reading.conditions, values, strict=False))


def _directed(reading: Reading, values: Quantities) -> bool:
    return _holds(reading, values) if reading.direction is None else reading.direction.holds_for(values[-1])


def _name(p: float) -> Verdict:
    return "within" if p >= WITHIN else "outside" if p <= OUTSIDE else "depends"


def _over_draws(reading: Reading, prior: Sequence[_Drawn], cases: Sequence[_Drawn], first: Judgement) -> Judgement:
    """Judge by the conditioned draws, or by the prior draws if the check rows leave too few."""
    notes = list(first.notes)
    used = cases
    if first.effective < FEWEST_EFFECTIVE or not cases:
        used = prior
        notes.append(f"the check rows leave only {first.effective:.1f} draws' worth: the prior decides")
    holds = [_holds(reading, draw.own) for draw in used]
    median, low, high = interval([draw.own[0] for draw in used])
    return replace(
        first, verdict=_name(share(holds)), direction=_name(share([_directed(reading, draw.own) for draw in used])),
        median=median, low=low, high=high, p_prior=_share(reading, prior), p_conditioned=_share(reading, cases),
        draws=len(used), deciding=_deciding(used, holds), notes=notes,
    )  # fmt: skip


def _share(reading: Reading, cases: Sequence[_Drawn]) -> float:
    return share([_holds(reading, draw.own) for draw in cases]) if cases else math.nan


def _deciding(cases: Sequence[_Drawn], holds: Sequence[bool]) -> tuple[tuple[str, float], ...]:
    """Return the estimates that the quantity follows; the placement is one of them if the answer depends on it."""
    correlations = list(
        rank_correlations([draw.case.estimates for draw in cases], [draw.own[0] for draw in cases]).items()
    )
    places = sorted({draw.case.placement for draw in cases})
    if len(places) > 1 and len(set(holds)) > 1:
        shares = [
            share([flag for flag, drawn in zip(holds, cases, strict=True) if drawn.case.placement == place])
            for place in places
        ]
        correlations.append((PLACEMENT, max(shares) - min(shares)))
    strongest = sorted(correlations, key=lambda item: -abs(item[1]))
    return tuple(item for item in strongest[:_MOST_DECIDING] if abs(item[1]) >= _STRONG)


def _left_out(evidence: Evidence, unmade: int, reading: Reading) -> list[str]:
    notes = []
    if evidence.refused:
        names = "; ".join(evidence.refused[:_MOST_DECIDING])
        notes.append(f"left out, since a machine refuses them: {len(evidence.refused)} draws ({names})")
    if unmade and not reading.needs:
        notes.append(f"left out, without such a quantity: {unmade} draws")
    return notes


def _as_given(first: Judgement) -> str:
    outcomes = set(first.holds.values())
    if len(outcomes) > 1:
        return "as given it holds on " + ", ".join(name for name, holds in first.holds.items() if holds) + " only"
    return f"as given it {'holds' if outcomes == {True} else 'does not hold'}"


def _ablated(reading: Reading, evidence: Evidence, judgement: Judgement) -> Judgement:
    """Add the margin without the mechanism; a statement that still holds then holds by construction."""
    values: list[Quantities] = []
    mechanism = evidence.takes_away.get(reading.ablation, reading.ablation)
    for table in evidence.ablations.get(reading.ablation, {}).values():
        try:
            values.append(quantities(reading, table))
        except NotThere as error:
            judgement.notes.append(f"without {mechanism}: {error}")
    if not values:
        return judgement
    margin = min(_margin(reading.conditions, each) for each in values)
    holds_still = all(_holds(reading, each) for each in values)
    said_so = "still holds" if holds_still else "no longer holds"
    judgement.notes.append(f"without {mechanism} it {said_so} ({values[0][0]:.4g})")
    by_construction = holds_still and judgement.verdict == "within"
    return replace(judgement, margin=margin, verdict="by_construction" if by_construction else judgement.verdict)


def _margin(conditions: Iterable[Condition], values: Quantities) -> float:
    return min(condition.margin(value) for condition, value in zip(conditions, values, strict=False))


def _converged(reading: Reading, evidence: Evidence, judgement: Judgement) -> Judgement:
    """Withhold the verdict if a value and a quantity still move with the length of the run."""
    unsteady = {
        (line, placement, x)
        for placement, table in evidence.given.items()
        for line, x in points_of(reading, table)
        if (line, placement, x) in evidence.unsteady
    }
    if not unsteady:
        return judgement
    line, placement, x = min(unsteady, key=str)
    why = f"four times the work moves {len(unsteady)} of its values by 2 % or more: {said(line)} at {x}, {placement}"
    moved = _moved(reading, evidence)
    if moved < STEADY:
        why = f"{why}; what is asked of them by {100 * moved:.2g} %"
        return replace(judgement, notes=[*judgement.notes, why])
    verdict: Verdict = "not_converged"
    return replace(
        judgement, verdict=verdict, direction=verdict if judgement.direction else "",
        notes=[why, f"as run it would be {judgement.verdict}", *judgement.notes],
    )  # fmt: skip


def _moved(reading: Reading, evidence: Evidence) -> float:
    """Return by how much, at most, four times the work moves a reading's quantities as given; infinite from 0."""
    most = 0.0
    for placement, table in evidence.given.items():
        try:
            shorter, longer = quantities(reading, table), quantities(reading, evidence.longer.get(placement, {}))
        except NotThere:
            return math.inf
        for before, after in zip(shorter, longer, strict=True):
            if before != after:
                most = max(most, abs(after / before - 1) if before else math.inf)
    return most
