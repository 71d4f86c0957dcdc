"""Verdicts of a claim in words and in the published unit, for the report and the terminal."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from gasmeter.reproduction.judge.judged import Judged, null_score, own_score
from gasmeter.reproduction.report.marks import unit_text
from gasmeter.reproduction.report.plain_words import reading_words
from gasmeter.units import units_beside
from gasmeter.verdicts.judging import Judgement, Verdict
from gasmeter.verdicts.predicates import Reading

__all__ = [
    "VERDICT_WORDS", "as_given", "asked_text", "band_text", "chance_text", "condition_text", "condition_value",
    "number", "other_readings", "quick_text", "reading_name", "reading_of", "reproduced_text", "score_line",
    "score_sentences", "shown_verdict", "unit_of", "verdict_meanings", "verdict_text", "worst",
]  # fmt: skip

VERDICT_WORDS: Mapping[str, str] = {
    "within": "within",
    "outside": "outside",
    "depends": "depends",
    "by_construction": "by construction",
    "not_converged": "not converged",
    "underdetermined": "underdetermined",
    "not_decidable": "not decidable",
    "no_band": "no band",
    "premise_fails": "premise fails",
    "not_run": "not run",
}
"""Verdict words for people, by the result of `shown_verdict`."""

_MEANINGS: Mapping[str, str] = {
    "within": "the statement holds on at least 90 % of the draws.",
    "outside": "it holds on at most 10 %.",
    "depends": "it holds on more than 10 % and less than 90 %.",
    "by_construction": "it holds on at least 90 %, but also without the mechanism that it describes. The model then"
    " says nothing about the mechanism.",
    "not_converged": "a value still changes with the length of the run.",
    "underdetermined": "the paper does not publish the program or a detail that the test needs.",
    "not_decidable": "no value of a model can decide the statement. The reason stands below the verdict.",
    "no_band": "run with the numbers of the machine files alone, without draws.",
    "premise_fails": "the statement builds on another one, which does not hold here.",
    "not_run": "a line of the figure is missing.",
}

_FROM_BAD: tuple[Verdict, ...] = (
    "outside", "depends", "not_converged", "underdetermined", "not_run", "no_band", "not_decidable", "by_construction",
    "within",
)  # fmt: skip
_UNIT_BEHIND = re.compile(r"[\])]\s*([^\s\[\](),]+)$")
_TINY = 1e-8
_DIGITS, _MOST_DIGITS = 3, 6


def number(value: float) -> str:
    """Return a number for people: three digits, or all of a large whole number, no exponent; empty for NaN."""
    if math.isnan(value):
        return ""
    text = f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.{_DIGITS}g}"
    return f"{Decimal(text):f}" if "e" in text else text


def reading_of(entry: Judged, judgement: Judgement) -> Reading | None:
    """Return the reading that a judgement is about; None for a claim without readings."""
    return next((reading for reading in entry.predicate.readings if reading.name == judgement.reading), None)


def unit_of(entry: Judged, reading: Reading | None) -> tuple[float, str]:
    """Return the factor and the published unit of a quantity; a bare number if the paper states no unit.

    A unit behind the reading's tolerance wins. A ratio less 1 is shown in per cent.
    """
    unit, published = entry.predicate.unit, entry.claim.unit
    named = _UNIT_BEHIND.search(reading.tolerance) if reading else None
    if named is not None:
        unit = named.group(1)
    beside = units_beside(unit)
    if published in beside and unit in beside and published != unit:
        return float(beside[unit] / beside[published]), published
    if unit == "ratio" and reading is not None and _is_less_one(reading.conditions[0].quantity.text):
        return 100.0, "%"
    if unit == "ratio" and published == "x":
        return 1.0, published
    return 1.0, "" if unit == "ratio" else unit


def _is_less_one(quantity: str) -> bool:
    """Return whether an expression is a ratio less 1, or the smallest, largest or mean of these."""
    node = ast.parse(quantity, mode="eval").body
    while isinstance(node, ast.Call):
        node = node.args[0]
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and ast.unparse(node.right) == "1"


def _with(text: str, unit: str) -> str:
    return f"{text} {unit_text(unit)}".strip() if text else ""


def reproduced_text(entry: Judged, judgement: Judgement) -> str:
    """Return a quantity as given in the published unit, for instance ``53 %``; empty without one.

    It has more than three digits where three do not decide the verdict.
    """
    reading = reading_of(entry, judgement)
    factor, unit = unit_of(entry, reading)
    asked = reading.conditions[0].holds if reading else ()
    ends = [factor * round(end, 6) for interval in asked for end in interval if math.isfinite(end)]
    return _with(_telling(factor * judgement.value, ends), unit)


def _telling(value: float, ends: Sequence[float]) -> str:
    """Return a number with enough digits to show its side of a bound: 1.003 is above 1."""
    if math.isnan(value):
        return ""
    longer = (f"{value:.{digits}g}" for digits in range(_DIGITS + 1, _MOST_DIGITS + 1))
    for text in (number(value), *longer):
        if all((float(text) > end) == (value > end) and (float(text) < end) == (value < end) for end in ends):
            return text
    return number(value)


def band_text(entry: Judged, judgement: Judgement) -> str:
    """Return the range of 90 % of the draws in the published unit, ``48 to 61 %``; empty without draws."""
    if math.isnan(judgement.low):
        return ""
    factor, unit = unit_of(entry, reading_of(entry, judgement))
    return _with(f"{number(factor * judgement.low)} to {number(factor * judgement.high)}", unit)


def asked_text(entry: Judged, reading: Reading) -> str:
    """Return the condition on a reading's quantity in the published unit: ``43 to 63 %``, ``above 1``."""
    return condition_text(entry, reading, 0)


def condition_text(entry: Judged, reading: Reading, place: int) -> str:
    """Return the required range of one of a reading's conditions, which count from 0."""
    factor, unit = _unit_at(entry, reading, place)
    return " or ".join(_interval(low, high, factor, unit) for low, high in reading.conditions[place].holds)


def condition_value(entry: Judged, reading: Reading, place: int, value: float) -> str:
    """Return a value of one condition's quantity in the unit of its required range."""
    factor, unit = _unit_at(entry, reading, place)
    ends = [factor * round(end, 6) for interval in reading.conditions[place].holds for end in interval]
    return _with(_telling(factor * value, [end for end in ends if math.isfinite(end)]), unit)


def _unit_at(entry: Judged, reading: Reading, place: int) -> tuple[float, str]:
    """Return factor and unit of a condition: only the first one is in the unit of the claim."""
    if place == 0:
        return unit_of(entry, reading)
    return (100.0, "%") if _is_less_one(reading.conditions[place].quantity.text) else (1.0, "")


def _interval(low: float, high: float, factor: float, unit: str) -> str:
    """Return an interval in words; an end that differs from a round number by a billionth is an open one."""
    open_low, open_high = (abs(end - round(end, 6)) < _TINY and end != round(end, 6) for end in (low, high))
    ends = [number(factor * (round(end, 6) if math.isfinite(end) else end) + 0.0) for end in (low, high)]  # never -0
    if ends[0] == ends[1]:
        return _with(ends[0], unit)
    if math.isinf(high):
        return _with(f"{'above' if open_low else 'at least'} {ends[0]}", unit)
    if math.isinf(low) or (open_high and low == 0):
        return _with(f"{'below' if open_high else 'at most'} {ends[1]}", unit)
    if open_low and round(low, 6) == 0:
        return _with(f"above 0, at most {ends[1]}", unit)
    return _with(f"{ends[0]} to {ends[1]}", unit)


def chance_text(judgement: Judgement) -> str:
    """Return the share of draws on which a reading holds: ``0.97 (0.88)``; empty without draws.

    The first number is for draws that the check rows make likely, the second for the ranges alone.
    """
    if math.isnan(judgement.p_prior):
        return ""
    prior = f"{judgement.p_prior:.2f}"
    return f"{judgement.p_conditioned:.2f} ({prior})" if not math.isnan(judgement.p_conditioned) else f"- ({prior})"


def worst(entry: Judged) -> Judgement | None:
    """Return the worst reading of a claim; None if it has a single one, or none is worse than the primary one."""
    lowest = min(entry.readings, key=lambda judgement: _FROM_BAD.index(judgement.verdict))
    return lowest if _FROM_BAD.index(lowest.verdict) < _FROM_BAD.index(entry.judgement.verdict) else None


def reading_name(entry: Judged, judgement: Judgement) -> str:
    """Return the name of a judgement's reading in words for readers."""
    return reading_words(entry.claim.paper, entry.claim.id, judgement.reading)


def other_readings(entry: Judged) -> str:
    """Return sentences with the primary reading, and with the others and their verdicts; empty without others."""
    first, *others = entry.readings
    if not others:
        return ""
    verdicts = [
        f'"{reading_name(entry, other)}" ({VERDICT_WORDS[shown_verdict(other)]})' for other in others
    ]  # fmt: skip
    heading = "Other reading" if len(others) == 1 else "Other readings"
    return f'Primary reading: "{reading_name(entry, first)}". {heading}: {"; ".join(verdicts)}.'


def verdict_meanings(judged: Iterable[Judged]) -> list[tuple[str, str]]:
    """Return the verdict words of all readings of claims, each with its meaning, in the order of `VERDICT_WORDS`."""
    shown = {shown_verdict(judgement) for entry in judged for judgement in entry.readings}
    return [(VERDICT_WORDS[verdict], _MEANINGS[verdict]) for verdict in VERDICT_WORDS if verdict in shown]


def as_given(judgement: Judgement) -> str:
    """Return whether a reading holds on the machines as given, or on which placements alone; empty if not run."""
    if not judgement.holds:
        return ""
    answers = set(judgement.holds.values())
    if len(answers) > 1:
        return "holds on " + ", ".join(name for name, holds in judgement.holds.items() if holds) + " only"
    return "holds" if answers == {True} else "does not hold"


def score_sentences(judged: Sequence[Judged]) -> tuple[str, str]:
    """Return two sentences: how many independent quantities came out, and how many of a null model.

    The second is empty without draws of the null model, which has random software times.
    """
    score = own_score(judged)
    first = (
        f"{score.within} of {score.judged} independent quantities {_verb(score.within, 'are', 'is')} within the"
        f" paper's statements; {score.outside} {_verb(score.outside, 'are', 'is')} outside, {score.depends}"
        f" {_verb(score.depends, 'depend', 'depends')} on unpublished estimates."
    )
    if not any(entry.null for entry in judged):
        return first, ""
    null = null_score(judged)
    return first, f"A control model with random software times: {null.within} of {null.judged} within."


def score_line(judged: Sequence[Judged]) -> str:
    """Return the score in a line, for instance ``score: 7 of 13 within, 3 outside, 3 open`` and the null model's."""
    line = f"score of independent quantities: {own_score(judged)}"
    if not any(entry.null for entry in judged):
        return line
    null = null_score(judged)
    return f"{line}; a control model with random software times: {null.within} of {null.judged}"


def _verb(count: int, several: str, singular: str) -> str:
    return singular if count == 1 else several


def shown_verdict(judgement: Judgement) -> str:
    """Return the verdict of a reading as a key of `VERDICT_WORDS`, or ``premise_fails``."""
    return "premise_fails" if judgement.premise_fails else judgement.verdict


def verdict_text(judgement: Judgement) -> str:
    """Return a verdict for the terminal: ``within``; for a quick run, which has no band, ``as given: outside``."""
    if judgement.verdict != "no_band":
        return VERDICT_WORDS[shown_verdict(judgement)]
    answers = set(judgement.holds.values())
    if len(answers) > 1:
        return "as given: within on " + ", ".join(name for name, holds in judgement.holds.items() if holds) + " only"
    return f"as given: {'within' if answers == {True} else 'outside'}" if answers else "as given: not run"


def quick_text(judged: Sequence[Judged]) -> str:
    """Return a sentence with the counts of claims within and outside as given, which decides nothing."""
    answers = [verdict_text(entry.judgement) for entry in judged if entry.judgement.verdict == "no_band"]
    within, outside = (answers.count(f"as given: {word}") for word in ("within", "outside"))
    mixed = sum(answer.startswith("as given: within on") for answer in answers)
    more = f", {mixed} by placement" if mixed else ""
    return f"As given: {within} of {len(answers)} within, {outside} outside{more}; without draws nothing is decided."
