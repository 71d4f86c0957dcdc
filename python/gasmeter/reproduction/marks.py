"""Published numbers as they are drawn into pictures: a line at a value, a stripe over a range."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gasmeter.reproduction.figure import Derived, Figure
from gasmeter.reproduction.judged import Judged
from gasmeter.units import units_beside
from gasmeter.verdicts.claims import Claim
from gasmeter.verdicts.series import SeriesKey, pick

__all__ = ["Mark", "marks", "numbers_of", "published_text", "published_words", "unit_text"]

_FACTORS = {"", "1", "ratio", "x"}
_BEFORE = {"<=": "up to ", ">=": "at least "}
_RELATIONS = {
    "<<": "far below", ">>": "far above", "<=": "at most", ">=": "at least", "<": "below", ">": "above",
    "=": "the same as", "->": "goes to",
}  # fmt: skip


@dataclass(frozen=True)
class Mark:
    """A published number.

    Attributes
    ----------
    low, high : float
        In the unit of the axis; the same unless it is a range.
    label : str
        In legends.
    of : str
        Label of the one curve that it is stated of; empty if it is of several, or if nobody knows.
    """

    low: float
    high: float
    label: str
    of: str = ""


def unit_text(unit: str) -> str:
    """Return a unit as people write it.

    Parameters
    ----------
    unit : str
        Of rows, claims or metrics.

    Returns
    -------
    str
        For instance ``µs``; empty for what is a bare number.
    """
    return {"us": "µs", "ratio": "", "1": ""}.get(unit, unit)


def numbers_of(claim: Claim) -> tuple[float, float] | None:
    """Return what a claim states in numbers.

    Parameters
    ----------
    claim : Claim
        Which.

    Returns
    -------
    tuple of float or None
        Both ends, the same of one number; None if it is stated in words.
    """
    try:
        ends = [float(end) for end in claim.value.split("..")]
    except ValueError:
        return None
    return min(ends), max(ends)


def published_text(claim: Claim) -> str:
    """Return what a claim states, for people.

    Parameters
    ----------
    claim : Claim
        Which.

    Returns
    -------
    str
        For instance ``up to 53 %``, ``100 to 1000 x``, ``raw < conduit``.
    """
    if numbers_of(claim) is None:
        return claim.value
    said = " to ".join(claim.value.split(".."))
    return f"{_BEFORE.get(claim.comparison, '')}{said} {unit_text(claim.unit)}".strip()


def published_words(claim: Claim) -> str:
    """Return what a claim states, for people who read sentences.

    Parameters
    ----------
    claim : Claim
        Which.

    Returns
    -------
    str
        As `published_text`, and comparisons in words: ``raw below conduit``.
    """
    said = published_text(claim)
    return said if numbers_of(claim) else " ".join(_RELATIONS.get(word, word) for word in said.split(" "))


def marks(
    judged: Iterable[Judged], figure: Figure, unit: str, among: Sequence[float] = (), *,
    made: Sequence[Derived] = (), lines: Iterable[SeriesKey] = (),
) -> list[Mark]:  # fmt: skip
    """Return the published numbers that a panel of a figure shows.

    Parameters
    ----------
    judged : iterable of Judged
        Claims, those of other figures among them.
    figure : Figure
        Whose picture it is.
    unit : str
        Of the panel's y axis.
    among : sequence of float, optional
        What the panel's curves come to. A number whose own reproduction lies elsewhere is about something else: a
        ratio the other way round, for instance.
    made : sequence of Derived, optional
        What the curves over that axis are made of. A number that is stated of one of several bears its label.
    lines : iterable of SeriesKey, optional
        Lines of the paper, which the statements name.

    Returns
    -------
    list of Mark
        Each once; none of claims in words, or in a unit that is no other way to write this one.
    """
    beside = units_beside(unit)
    every = set(lines)
    found: list[Mark] = []
    for entry in judged:
        ends = numbers_of(entry.claim)
        if entry.figure.number == figure.number and ends is not None and entry.claim.unit in beside and unit in beside:
            factor = float(beside[entry.claim.unit] / beside[unit])
            if not _is_among(_value(entry, unit), among):
                continue
            of = _of(entry, made, every) if len(made) > 1 else ""
            label = f"published: {published_text(entry.claim)}"
            found.append(Mark(factor * ends[0], factor * ends[1], f"{of}, {label}" if of else label, of))
    return list(dict.fromkeys(found))


def _of(entry: Judged, made: Iterable[Derived], lines: Iterable[SeriesKey]) -> str:
    """Return the label of what a claim is stated of: what is made of the lines that its primary reading names."""
    named = {pick(key, lines) for reading in entry.predicate.readings[:1] for key in reading.series.values()}
    own = [derived.label for derived in made if all(line.key in named for _, line in derived.lines)]
    return own[0] if len(own) == 1 else ""


def _value(entry: Judged, unit: str) -> float:
    """Return what was reproduced of a claim, in the unit of an axis; NaN where that is no other way to write it."""
    own = entry.predicate.unit
    if {own, unit} <= _FACTORS:
        return entry.judgement.value
    beside = units_beside(unit)
    return float(beside[own] / beside[unit]) * entry.judgement.value if own in beside and unit in beside else math.nan


def _is_among(value: float, among: Sequence[float]) -> bool:
    """Return whether a value may be one of such values, or made of them; so it may where one of both is not known."""
    known = [each for each in among if math.isfinite(each)]
    if not known or not math.isfinite(value):
        return True
    low, high = min(known), max(known)
    slack = (high - low) / 2 + max(abs(low), abs(high)) / 4
    return low - slack <= value <= high + slack
