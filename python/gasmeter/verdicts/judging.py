"""From values on a machine and its variants to a verdict, a band and the parameter that decides.

A quantity on a variant is the quantity as given, on all points, plus what it moved between the variant and the machine
as given on the points of the band: a band may be run with fewer points and updates than the figure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from gasmeter.verdicts.expressions import NotThere
from gasmeter.verdicts.predicates import Predicate, SeriesKey

__all__ = ["PLACEMENT", "TOGETHER", "Case", "Judgement", "Table", "VerdictName", "judge_claim"]

VerdictName = Literal["within", "outside", "depends", "by_construction", "not_decidable", "not_run"]

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
        ``within``, ``outside``, ``depends``, ``by_construction``, ``not_decidable`` or ``not_run``.
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


def judge_claim(
    predicate: Predicate,
    given: Case,
    band_given: Case | None = None,
    band: Sequence[Case] = (),
    *,
    only: Iterable[str] | None = None,
) -> Judgement:
    """Judge one claim.

    Parameters
    ----------
    predicate : Predicate
        How.
    given : Case
        The machine as it stands, on every point of the figure.
    band_given : Case, optional
        The machine as it stands, on the points of the band.
    band : sequence of Case
        Its variants, on the same points.
    only : iterable of str, optional
        Placements that count; all of `given` by default.

    Returns
    -------
    Judgement
        ``not_run`` without values, or without a band.
    """
    if predicate.undecidable:
        return Judgement("not_decidable", notes=[predicate.undecidable])
    if predicate.elsewhere:
        return Judgement("not_run", notes=[f"judged by {predicate.elsewhere}"])
    wanted = list(given.tables) if only is None else [name for name in given.tables if name in set(only)]
    nominal: dict[str, Quantities] = {}
    missing: list[str] = []
    for placement in wanted:
        try:
            nominal[placement] = _quantities(predicate, given.tables[placement], predicate.over)
        except NotThere as error:
            missing.append(str(error))
    if not nominal or (missing and predicate.placements == "every"):
        return Judgement("not_run", notes=list(dict.fromkeys(missing)) or ["no placement was run"])
    return _judge(predicate, nominal, band_given, band)


def _quantities(predicate: Predicate, table: Table, over: Iterable[int], xs: set[int] | None = None) -> Quantities:
    """Return the quantity of every condition; `xs` restricts the points."""
    found: dict[str, Mapping[int, float] | None] = {}
    for name, key in predicate.series.items():
        lines = [values for line, values in table.items() if key.matches(line)]
        if not lines and name not in predicate.optional:
            raise NotThere(f"no line {_said(key)} in what was run")
        found[name] = lines[0] if lines else None
    there = [set(values) for values in found.values() if values is not None]
    common = set.intersection(*there) if there else set()
    lacking = sorted(set(over) - common)
    if lacking:
        raise NotThere(f"not run at {', '.join(map(str, lacking))}")
    points = sorted(set(over) or common) if xs is None else sorted(xs & common)
    if not points:
        raise NotThere("no common point")
    series = {
        name: None if values is None else np.array([values[x] for x in points], dtype=np.float64)
        for name, values in found.items()
    }
    return tuple(condition.quantity.value(series) for condition in predicate.conditions)


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
    xs = _points(predicate, tables[0])
    try:
        before, after = (_quantities(predicate, table, xs, xs) for table in tables)
    except NotThere:
        return None
    return tuple(value + new - old for value, new, old in zip(nominal, after, before, strict=True))


def _points(predicate: Predicate, table: Table) -> set[int]:
    """Return the points of the band that a predicate uses."""
    there = {x for key in predicate.series.values() for line, values in table.items() if key.matches(line)
             for x in values}  # fmt: skip
    return there & set(predicate.over) if predicate.over else there


def _holds(predicate: Predicate, values: Quantities) -> bool:
    return all(condition.holds_for(value) for condition, value in zip(predicate.conditions, values, strict=True))


def _together(predicate: Predicate, outcomes: Mapping[str, bool]) -> set[bool]:
    """Return what a variant says: one answer per placement, or whether any holds where one is enough."""
    if predicate.placements == "any":
        return {any(outcomes.values())}
    return set(outcomes.values())


def _judge(
    predicate: Predicate, nominal: Mapping[str, Quantities], base: Case | None, band: Sequence[Case]
) -> Judgement:
    holds = {placement: _holds(predicate, values) for placement, values in nominal.items()}
    shown = _shown(predicate, nominal, holds)
    values = {placement: found[0] for placement, found in nominal.items()}
    as_given = _together(predicate, holds)
    said = "as given it holds" if as_given == {True} else "as given it does not hold"
    said = "as given it holds on some placements only" if len(as_given) > 1 else said
    if not band:
        return Judgement("not_run", values[shown], by_placement=values, holds=holds, notes=[f"no band was run: {said}"])
    outcomes, moves, flips = set(as_given), dict[str, float](), dict[str, float]()
    refused: list[str] = []
    ranges = [variant for variant in band if variant.kind != "factor"]
    corner_flips = factor_flips = False
    low = high = values[shown]
    for variant in band:
        found = {
            placement: shifted
            for placement, quantities in nominal.items()
            if (shifted := _shifted(predicate, quantities, base, variant, placement)) is not None
        }
        if len(found) < len(nominal):
            if variant.kind != "factor":  # what cannot run does not hold
                refused.append(variant.parameter)
                outcomes.add(False)
            continue
        answers = _together(predicate, {placement: _holds(predicate, one) for placement, one in found.items()})
        flipped = answers != as_given
        if variant.kind == "factor":
            factor_flips |= flipped
            continue
        outcomes |= answers
        move = max(abs(one[0] - values[placement]) for placement, one in found.items())
        low, high = min(low, found[shown][0]), max(high, found[shown][0])
        if variant.parameter:
            moves[variant.parameter] = max(move, moves.get(variant.parameter, 0.0))
            if flipped:
                flips[variant.parameter] = max(move, flips.get(variant.parameter, 0.0))
        else:
            corner_flips |= flipped
    if len(refused) == len(ranges):
        notes = [f"no variant of the machine could be run: {said}"]
        return Judgement("not_run", values[shown], by_placement=values, holds=holds, notes=notes)
    verdict: VerdictName = "depends" if len(outcomes) > 1 else "within" if outcomes == {True} else "outside"
    tried = any(variant.kind == "factor" for variant in band)
    if verdict == "within" and tried and not factor_flips:
        verdict = "by_construction"
    moved = dict(sorted(((key, by) for key, by in moves.items() if by > _SAME), key=lambda item: -item[1]))
    notes = [f"over {shown}" if len(values) > 1 else ""]
    notes += [said] if verdict == "depends" else []
    notes += ["no parameter flips it within a factor of 2"] if verdict == "by_construction" else []
    if refused:
        names = ", ".join(sorted({name for name in refused if name}))
        notes.append(f"{len(refused)} of {len(ranges)} variants cannot run it{f' ({names})' if names else ''}")
    deciding = max(flips, key=flips.__getitem__, default="")
    if not deciding and len(as_given) > 1:
        deciding = PLACEMENT
    elif not deciding and as_given == {True} and any(refused):
        deciding = next(name for name in refused if name)
    elif not deciding and corner_flips:
        deciding = TOGETHER
    if not deciding:
        deciding = next(iter(moved), "")
    return Judgement(
        verdict, values[shown], low, high, values, holds, deciding, [note for note in notes if note], moved
    )


def _shown(predicate: Predicate, nominal: Mapping[str, Quantities], holds: Mapping[str, bool]) -> str:
    """Return the placement whose quantity is reported.

    One on which the claim holds where one is enough, one on which it fails where all have to; of these the first.
    """
    wanted = predicate.placements == "any"
    return next((placement for placement in nominal if holds[placement] is wanted), next(iter(nominal)))
