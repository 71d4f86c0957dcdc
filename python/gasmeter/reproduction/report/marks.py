"""Published numbers in pictures: a line at a value, a stripe over a range."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gasmeter.reproduction.judge.judged import Judged
from gasmeter.reproduction.plan.figure import Derived, Figure
from gasmeter.reproduction.report.plain_words import published_plainly
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
    """A published number."""

    low: float  # in the unit of the axis
    high: float  # equal to `low` unless the number is a range
    label: str  # in legends
    of: str = ""  # label of the single curve that it is stated about; empty for several curves, or if unknown


def unit_text(unit: str) -> str:
    """Return a unit as people write it, for instance ``µs``; empty for a bare number."""
    return {"us": "µs", "ratio": "", "1": ""}.get(unit, unit)


def numbers_of(claim: Claim) -> tuple[float, float] | None:
    """Return both ends of a claim's number (equal for a single one); None for a claim in words."""
    try:
        ends = [float(end) for end in claim.value.split("..")]
    except ValueError:
        return None
    return min(ends), max(ends)


def published_text(claim: Claim) -> str:
    """Return a claim's published value: ``up to 53 %``, ``100 to 1000 x``, ``raw < conduit``.

    Words of plain_words.toml replace a value whose comparison would mislead.
    """
    if plain := published_plainly(claim.id):
        return plain
    if numbers_of(claim) is None:
        return claim.value
    text = " to ".join(claim.value.split(".."))
    return f"{_BEFORE.get(claim.comparison, '')}{text} {unit_text(claim.unit)}".strip()


def published_words(claim: Claim) -> str:
    """Return `published_text` with comparisons in words, for sentences: ``raw below conduit``."""
    text = published_text(claim)
    if numbers_of(claim) or published_plainly(claim.id):
        return text
    return " ".join(_RELATIONS.get(word, word) for word in text.split(" "))


def marks(
    judged: Iterable[Judged], figure: Figure, unit: str, among: Sequence[float] = (), *,
    derived_lines: Sequence[Derived] = (), lines: Iterable[SeriesKey] = (),
) -> list[Mark]:  # fmt: skip
    """Return the published numbers for a panel of a figure, each once.

    `among` are the values of the panel's curves; a number whose own reproduction lies elsewhere concerns another
    quantity, such as the inverse ratio. `derived_lines` are those over that axis. A number stated about one
    of several curves has its label. Claims in words and in other units give no mark.
    """
    beside = units_beside(unit)
    every = set(lines)
    result: list[Mark] = []
    for entry in judged:
        ends = numbers_of(entry.claim)
        if entry.figure.number == figure.number and ends is not None and entry.claim.unit in beside and unit in beside:
            factor = float(beside[entry.claim.unit] / beside[unit])
            if not _is_among(_value(entry, unit), among):
                continue
            of = _of(entry, derived_lines, every) if len(derived_lines) > 1 else ""
            label = f"published: {published_text(entry.claim)}"
            result.append(Mark(factor * ends[0], factor * ends[1], f"{of}, {label}" if of else label, of))
    return list(dict.fromkeys(result))


def _of(entry: Judged, derived_lines: Iterable[Derived], lines: Iterable[SeriesKey]) -> str:
    """Return the label of the derived or plain line that a claim's primary reading names."""
    named = {pick(key, lines) for reading in entry.predicate.readings[:1] for key in reading.series.values()}
    labels = [derived.label for derived in derived_lines if all(line.key in named for _, line in derived.lines)]
    return labels[0] if len(labels) == 1 else ""


def _value(entry: Judged, unit: str) -> float:
    """Return a claim's reproduced value in the unit of an axis; NaN if the units differ in kind."""
    claim_unit = entry.predicate.unit
    if {claim_unit, unit} <= _FACTORS:
        return entry.judgement.value
    beside = units_beside(unit)
    return (
        float(beside[claim_unit] / beside[unit]) * entry.judgement.value
        if claim_unit in beside and unit in beside
        else math.nan
    )


def _is_among(value: float, among: Sequence[float]) -> bool:
    """Tell whether a value may be among such values or derived from them; also if one of both is unknown."""
    finite = [each for each in among if math.isfinite(each)]
    if not finite or not math.isfinite(value):
        return True
    low, high = min(finite), max(finite)
    slack = (high - low) / 2 + max(abs(low), abs(high)) / 4
    return low - slack <= value <= high + slack
