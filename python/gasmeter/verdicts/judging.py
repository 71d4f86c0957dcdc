"""From values on a machine and its variants to a verdict, a band and the parameter that decides.

A quantity on a variant is the quantity as given, on all points, plus what it moved between the variant and the machine
as given on the points of the band: a band may be run with fewer points and updates than the figure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from gasmeter.verdicts.expressions import NotThere
from gasmeter.verdicts.predicates import Predicate, SeriesKey

__all__ = ["PLACEMENT", "TOGETHER", "Case", "Judgement", "Table", "Trial", "VerdictName", "judge_claim"]

VerdictName = Literal["within", "outside", "depends", "by_construction", "not_decidable", "no_band", "not_run"]

Table = Mapping[SeriesKey, Mapping[int, float]]
"""Values of each line by x."""

PLACEMENT = "placement"
"""The deciding parameter where ranks decide by where they run."""
TOGETHER = "several estimates together"
"""The deciding parameter where no estimate alone flips a claim, but a corner does."""

_SAME = 1e-12


@dataclass(frozen=True)
class Case:
    """What was found on one variant of the machine.

    Attributes
    ----------
    name : str
        ``as given``, ``link.latency=0.25 us``, ``corner 3``.
    parameter : str
        The one that differs; empty as given and at corners.
    kind : {"given", "end", "corner", "factor"}
        What it is: the machine, an end of a range, several ends, a factor of 2 beyond any range.
    tables : dict of str to Table
        Values by placement.
    """

    name: str
    parameter: str
    kind: Literal["given", "end", "corner", "factor"]
    tables: Mapping[str, Table]


@dataclass(frozen=True)
class Judgement:
    """What became of a claim.

    Attributes
    ----------
    verdict : str
        ``within``, ``outside``, ``depends``, ``by_construction``, ``not_decidable``, ``no_band`` or ``not_run``.
    value, low, high : float
        The quantity as given (of the placement that comes nearest to flipping), and its band; NaN if there is none.
    by_placement : dict of str to float
        The quantity as given on each placement.
    holds : dict of str to bool
        Whether the claim holds as given on each placement.
    deciding : str
        The parameter whose range flips it, or moves its quantity most; empty without a band.
    notes : list of str
        What a reader must know.
    moves : dict of str to float
        How far each parameter moves the quantity at most, the largest first.
    """

    verdict: VerdictName
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    by_placement: Mapping[str, float] = field(default_factory=dict)
    holds: Mapping[str, bool] = field(default_factory=dict)
    deciding: str = ""
    notes: list[str] = field(default_factory=list)
    moves: Mapping[str, float] = field(default_factory=dict)


Quantities = tuple[float, ...]
"""One per condition of a predicate."""


@dataclass(frozen=True)
class Trial:
    """Everything a claim is judged by.

    Attributes
    ----------
    given : Case
        The machine as it stands, on every point of the figure.
    band_given : Case, optional
        The machine as it stands, on the points of the band.
    band : tuple of Case
        Its variants, on the same points.
    factor_given : Case, optional
        The machine as it stands, on the points at which factors are tried.
    factors : tuple of Case
        Variants beyond the ranges, on the same points.
    """

    given: Case
    band_given: Case | None = None
    band: tuple[Case, ...] = ()
    factor_given: Case | None = None
    factors: tuple[Case, ...] = ()


def judge_claim(predicate: Predicate, trial: Trial, *, only: Iterable[str] | None = None) -> Judgement:
    """Judge one claim.

    Parameters
    ----------
    predicate : Predicate
        How.
    trial : Trial
        What was found.
    only : iterable of str, optional
        Placements that count; all that were run by default.

    Returns
    -------
    Judgement
        ``not_run`` without values, ``no_band`` where no variant of the machine was run.
    """
    if predicate.undecidable:
        return Judgement("not_decidable", notes=[predicate.undecidable])
    if predicate.suite:
        return Judgement("not_run", notes=[f"the conformance suite was not run on {predicate.suite}"])
    tables = trial.given.tables
    wanted = list(tables) if only is None else [name for name in tables if name in set(only)]
    nominal: dict[str, Quantities] = {}
    missing: list[str] = []
    for placement in wanted:
        try:
            nominal[placement] = _quantities(predicate, tables[placement], predicate.over)
        except NotThere as error:
            missing.append(str(error))
    if not nominal or (missing and predicate.placements == "every"):
        return Judgement("not_run", notes=list(dict.fromkeys(missing)) or ["no placement was run"])
    return _judge(predicate, nominal, trial)


def _quantities(predicate: Predicate, table: Table, over: Iterable[int]) -> Quantities:
    """Return the quantity of every condition, each over the points that its own series share; `over` among them."""
    series: dict[str, Mapping[int, float] | None] = {}
    for name, key in predicate.series.items():
        lines = [values for line, values in table.items() if key.matches(line)]
        if not lines and name not in predicate.optional:
            raise NotThere(f"no line {_said(key)} in what was run")
        series[name] = lines[0] if lines else None
    return tuple(
        condition.quantity.value(_shared({name: series[name] for name in condition.quantity.names}, set(over)))
        for condition in predicate.conditions
    )


def _shared(
    series: Mapping[str, Mapping[int, float] | None], over: set[int]
) -> dict[str, npt.NDArray[np.float64] | None]:
    """Return series at the points that all of them have, or at those of `over`, which all must have."""
    there = [set(values) for values in series.values() if values is not None]
    common = set.intersection(*there) if there else set()
    lacking = sorted(over - common)
    if lacking:
        raise NotThere(f"not run at {', '.join(map(str, lacking))}")
    points = sorted(over or common)
    if not points:
        raise NotThere("no common point")
    return {
        name: None if values is None else np.array([values[x] for x in points], dtype=np.float64)
        for name, values in series.items()
    }


def _said(key: SeriesKey) -> str:
    options = [f"{name}={value}" for name, value in key.options]
    words = [key.kernel, key.variant, f"on {key.conduit}", key.topology, *options]
    return " ".join(word for word in words if word)


def _shifted(
    predicate: Predicate, nominal: Quantities, base: Case | None, variant: Case, placement: str
) -> Quantities | None:
    """Return the quantities on a variant, or None where it could not be run."""
    if base is None or placement not in base.tables or placement not in variant.tables:
        return None
    tables = base.tables[placement], variant.tables[placement]
    wanted = _points(predicate, tables[0])
    if any(xs - set(tables[1].get(line, {})) for line, xs in wanted.items()):
        return None
    same = [{line: {x: table[line][x] for x in xs} for line, xs in wanted.items()} for table in tables]
    try:
        before, after = (_quantities(predicate, table, ()) for table in same)
    except NotThere:
        return None
    return tuple(value + new - old for value, new, old in zip(nominal, after, before, strict=True))


def _points(predicate: Predicate, table: Table) -> dict[SeriesKey, set[int]]:
    """Return the points of the band that a predicate uses, by line."""
    over = set(predicate.over)
    return {
        line: {x for x in values if not over or x in over}
        for line, values in table.items()
        if any(key.matches(line) for key in predicate.series.values())
    }


def _holds(predicate: Predicate, values: Quantities) -> bool:
    return all(condition.holds_for(value) for condition, value in zip(predicate.conditions, values, strict=True))


def _together(predicate: Predicate, outcomes: Mapping[str, bool]) -> set[bool]:
    """Return what a variant says: one answer per placement, or whether any holds where one is enough."""
    if predicate.placements == "any":
        return {any(outcomes.values())}
    return set(outcomes.values())


@dataclass
class _Band:
    """What a band says of a claim."""

    low: float
    high: float
    outcomes: set[bool]
    moves: dict[str, float] = field(default_factory=dict)
    flips: dict[str, float] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    corner_flips: bool = False


def _judge(predicate: Predicate, nominal: Mapping[str, Quantities], trial: Trial) -> Judgement:
    holds = {placement: _holds(predicate, values) for placement, values in nominal.items()}
    values = {placement: quantities[0] for placement, quantities in nominal.items()}
    shown = _shown(predicate, nominal, holds)
    as_given = _together(predicate, holds)
    said = f"as given it {'holds' if as_given == {True} else 'does not hold'}"
    said = "as given it holds on some placements only" if len(as_given) > 1 else said
    band = _over_band(predicate, nominal, trial, shown, as_given)
    if len(band.refused) == len(trial.band):
        why = "no variant of the machine could be run" if trial.band else "no band was run"
        return Judgement("no_band", values[shown], by_placement=values, holds=holds, notes=[f"{why}: {said}"])
    verdict: VerdictName = "within" if band.outcomes == {True} else "outside"
    verdict = "depends" if len(band.outcomes) > 1 else verdict
    notes = [f"over {shown}"] if len(values) > 1 else []
    if verdict == "within" and _nothing_flips(predicate, nominal, trial, as_given):
        verdict = "by_construction"
        notes.append(f"no parameter flips it within a factor of 2{_where(trial)}")
    if verdict == "depends":
        notes.append(said)
    if band.refused:
        names = ", ".join(sorted({name for name in band.refused if name}))
        notes.append(f"{len(band.refused)} of {len(trial.band)} variants cannot run it{f' ({names})' if names else ''}")
    moves = dict(sorted(((key, by) for key, by in band.moves.items() if by > _SAME), key=lambda item: -item[1]))
    deciding = _deciding(band, as_given) or next(iter(moves), "")
    return Judgement(verdict, values[shown], band.low, band.high, values, holds, deciding, notes, moves)


def _over_band(
    predicate: Predicate, nominal: Mapping[str, Quantities], trial: Trial, shown: str, as_given: set[bool]
) -> _Band:
    at = nominal[shown][0]
    band = _Band(at, at, set(as_given))
    for variant in trial.band:
        quantities = _on(predicate, nominal, trial.band_given, variant)
        if len(quantities) < len(nominal):  # what cannot run does not hold
            band.refused.append(variant.parameter)
            band.outcomes.add(False)
            continue
        answers = _together(predicate, {placement: _holds(predicate, one) for placement, one in quantities.items()})
        band.outcomes |= answers
        move = max(abs(one[0] - nominal[placement][0]) for placement, one in quantities.items())
        band.low, band.high = min(band.low, quantities[shown][0]), max(band.high, quantities[shown][0])
        if not variant.parameter:
            band.corner_flips |= answers != as_given
            continue
        for table in (band.moves, band.flips) if answers != as_given else (band.moves,):
            table[variant.parameter] = max(move, table.get(variant.parameter, 0.0))
    return band


def _on(
    predicate: Predicate, nominal: Mapping[str, Quantities], base: Case | None, variant: Case
) -> dict[str, Quantities]:
    """Return the quantities on a variant by placement, where it could be run."""
    shifted = {
        placement: _shifted(predicate, values, base, variant, placement) for placement, values in nominal.items()
    }
    return {placement: quantities for placement, quantities in shifted.items() if quantities is not None}


def _nothing_flips(predicate: Predicate, nominal: Mapping[str, Quantities], trial: Trial, as_given: set[bool]) -> bool:
    """Return whether factors were tried, on at least one placement, and none of them changes the answer."""
    tried = 0
    for variant in trial.factors:
        quantities = _on(predicate, nominal, trial.factor_given, variant)
        answers = {_holds(predicate, one) for one in quantities.values()}
        if answers - as_given:
            return False
        tried += bool(answers)
    return tried > 0


def _where(trial: Trial) -> str:
    """Say where factors were tried."""
    tables = trial.factor_given.tables if trial.factor_given else {}
    points = sorted({x for table in tables.values() for values in table.values() for x in values})
    return f" (tried over {', '.join(tables)} at {', '.join(map(str, points))})" if points else ""


def _deciding(band: _Band, as_given: set[bool]) -> str:
    """Return what flips the claim: a parameter, the placement, a parameter that forbids it, several together."""
    if band.flips:
        return max(band.flips, key=band.flips.__getitem__)
    if len(as_given) > 1:
        return PLACEMENT
    if as_given == {True} and any(band.refused):
        return next(name for name in band.refused if name)
    return TOGETHER if band.corner_flips else ""


def _shown(predicate: Predicate, nominal: Mapping[str, Quantities], holds: Mapping[str, bool]) -> str:
    """Return the placement whose quantity is reported.

    One on which the claim holds where one is enough, one on which it fails where all have to; of these the first.
    """
    wanted = predicate.placements == "any"
    return next((placement for placement in nominal if holds[placement] is wanted), next(iter(nominal)))
