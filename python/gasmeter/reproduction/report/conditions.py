"""Conditions of a statement in sentences, and how each comes out alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gasmeter.reproduction.judge.gathering import evidence
from gasmeter.reproduction.judge.judged import Judged
from gasmeter.reproduction.report.claim_texts import condition_text, condition_value, reading_of
from gasmeter.reproduction.report.plain_words import quantity_words
from gasmeter.verdicts.evidence import Evidence
from gasmeter.verdicts.judging import FEWEST_EFFECTIVE, Judgement, judge_reading

if TYPE_CHECKING:
    from gasmeter.reproduction.run.running import Reproduction

__all__ = ["Condition", "Conditions", "required_sentences"]

_HOLDING = frozenset({"within", "by_construction"})


@dataclass(frozen=True)
class Condition:
    """One of several conditions of a reading, judged alone."""

    quantity: str  # expression of the lines
    interval: str  # required range
    words: str  # the condition as a sentence; empty for another reading than the primary one
    reproduced: str  # value as given
    share: float  # part of the deciding draws on which it holds; NaN without draws
    holds: bool  # whether it holds as given

    @property
    def chance(self) -> float:
        """Share of the draws on which it holds; without draws 1 or 0, as given."""
        return float(self.holds) if math.isnan(self.share) else self.share


@dataclass
class Conditions:
    """Judge of single conditions. Each figure's evidence is gathered once."""

    reproduction: Reproduction
    _evidence: dict[str, Evidence] = field(default_factory=dict)

    def of(self, entry: Judged, judgement: Judgement) -> list[Condition]:
        """Return the conditions of a reading; empty if it has a single one, or was not run."""
        reading = reading_of(entry, judgement)
        if reading is None or len(reading.conditions) == 1 or math.isnan(judgement.value):
            return []
        needed = {other.claim.id: other.predicate.readings[0]
                  for other in self.reproduction.judged if other.predicate.readings}  # fmt: skip
        known = self._known(entry, judgement)
        primary = reading == entry.predicate.readings[0]
        conditions = []
        for place, condition in enumerate(reading.conditions):
            alone = judge_reading(replace(reading, conditions=(condition,), direction=None, ablation=""), known, needed)
            interval = condition_text(entry, reading, place)
            words = f"{quantity_words(entry.claim.id, place)} must be {interval}." if primary else ""
            conditions.append(
                Condition(
                    condition.quantity.text, interval, words, condition_value(entry, reading, place, alone.value),
                    _share(alone), all(alone.holds.values()),
                )
            )  # fmt: skip
        return conditions

    def _known(self, entry: Judged, judgement: Judgement) -> Evidence:
        number = entry.figure.number
        if number not in self._evidence:
            seen = self.reproduction.seen
            self._evidence[number] = evidence(
                seen.paper, entry.figure, seen.gathered, cases=seen.cases, estimates={},
                effective=judgement.effective, refused=seen.refused,
            )  # fmt: skip
        return self._evidence[number]


def _share(alone: Judgement) -> float:
    """Return the share of the draws that decide: the prior if the check rows leave too few."""
    by_prior = math.isnan(alone.p_conditioned) or alone.effective < FEWEST_EFFECTIVE
    return alone.p_prior if by_prior else alone.p_conditioned


def required_sentences(entry: Judged, conditions: Sequence[Condition]) -> list[str]:
    """Return what a statement's primary reading requires, in sentences; empty if nothing was run.

    With several conditions the sentences name the one that fails most often.
    """
    judgement = entry.judgement
    reading = reading_of(entry, judgement)
    if reading is None or math.isnan(judgement.value):
        return []
    first = f"{quantity_words(entry.claim.id, 0)} must be {condition_text(entry, reading, 0)}."
    if not conditions or judgement.premise_fails:
        return [first]
    count = len(conditions)
    if judgement.verdict in _HOLDING:
        others = "condition holds" if count == 2 else f"{count - 1} conditions hold"
        return [first, f"The other {others}, too."]
    weakest = min(conditions, key=lambda condition: condition.chance)
    if weakest is conditions[0]:
        return [first, f"Of the {count} conditions this one fails {'more' if count == 2 else 'most'} often."]
    on_draws = "" if math.isnan(weakest.share) else f"; it holds on {weakest.share:.2f} of the draws"
    reproduced = f"Reproduced: {weakest.reproduced}{on_draws}."
    which = (
        "The other condition fails more often" if count == 2 else f"Of the {count} conditions another fails most often"
    )
    return [first, f"{which}. {weakest.words} {reproduced}"]
