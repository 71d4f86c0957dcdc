"""Claims in the report: a line of the first table, and every reading below its figure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from gasmeter.reproduction.judge.claims_table import deciding_text
from gasmeter.reproduction.judge.judged import Judged
from gasmeter.reproduction.plan.figure import RANKS, Line, describe
from gasmeter.reproduction.report.claim_texts import (
    VERDICT_WORDS,
    as_given,
    asked_text,
    band_text,
    chance_text,
    number,
    other_readings,
    reading_name,
    reading_of,
    reproduced_text,
    shown_verdict,
    unit_of,
    worst,
)
from gasmeter.reproduction.report.conditions import Condition, Conditions, required_sentences
from gasmeter.reproduction.report.marks import numbers_of, published_words, unit_text
from gasmeter.reproduction.report.plain_words import published_plainly, why_undecidable
from gasmeter.verdicts.evidence import STEADY
from gasmeter.verdicts.judging import Judgement
from gasmeter.verdicts.predicates import Reading
from gasmeter.verdicts.quantities import points_of
from gasmeter.verdicts.series import SeriesKey, X

if TYPE_CHECKING:
    from gasmeter.reproduction.run.running import Reproduction

__all__ = ["claim_entry", "steadiness"]


def claim_entry(reproduction: Reproduction, entry: Judged, conditions: Conditions) -> dict[str, Any]:
    """Return everything that the report shows of a claim, by the names in the template.

    The template has the heads of the first table, too. `gasmeter.cli.verdict_table` shows the same table on terminals.
    """
    primary = entry.judgement
    alone = [conditions.of(entry, judgement) for judgement in entry.readings]
    other = worst(entry)
    failing = reproduction.checks.failing()
    return {
        "id": entry.claim.id,
        "figure": entry.figure.number,
        "where": entry.claim.figure,
        "statement": entry.claim.statement,
        "published": published_words(entry.claim),
        "number": (
            published_words(entry.claim) if numbers_of(entry.claim) or published_plainly(entry.claim.id) else "in words"
        ),
        "required": required_sentences(entry, alone[0]),
        "reproduced": reproduced_text(entry, primary),
        "band": band_text(entry, primary),
        "chance": chance_text(primary),
        "verdict": shown_verdict(primary),
        "verdict_words": VERDICT_WORDS[shown_verdict(primary)],
        "as_given": as_given(primary) if primary.verdict == "no_band" else "",
        "worst": shown_verdict(other) if other else "",
        "worst_words": VERDICT_WORDS[shown_verdict(other)] if other else "",
        "other": other_readings(entry),
        "reason": _reason(reproduction, entry),
        "direction_words": _direction(entry, primary),
        "label": entry.label,
        "deciding": _deciding(primary.deciding),
        "failing": [
            name for name in entry.figure.machines
            if failing.get(name) and primary.verdict not in {"not_run", "not_decidable"}
        ],
        "digest": entry.predicate.digest,
        "quantity": entry.predicate.on,
        "withheld": entry.predicate.withheld,
        "null": VERDICT_WORDS.get(entry.null, ""),
        "why": "; ".join(primary.notes),
        "readings": [
            _reading(reproduction, entry, judgement, each)
            for judgement, each in zip(entry.readings, alone, strict=True)
        ],
    }  # fmt: skip


def _deciding(deciding: Iterable[tuple[str, float]]) -> list[str]:
    return [f"{name} ({by:+.2f})" for name, by in deciding]


def _reading(
    reproduction: Reproduction, entry: Judged, judgement: Judgement, conditions: Sequence[Condition]
) -> dict[str, Any]:  # fmt: skip
    reading = reading_of(entry, judgement)
    factor, unit = unit_of(entry, reading)
    several = len(judgement.by_placement) > 1
    margin = (
        f"{number(factor * judgement.margin)} {unit_text(unit)}".strip() if not math.isnan(judgement.margin) else ""
    )
    return {
        "name": reading_name(entry, judgement),
        "quote": reading.quote if reading else "",
        "rule": reading.rule if reading else "",
        "tolerance": reading.tolerance if reading else "",
        "asked": asked_text(entry, reading) if reading else "",
        "further": [
            {"quantity": condition.quantity, "words": condition.words, "interval": condition.interval,
             "reproduced": condition.reproduced,
             "share": "" if math.isnan(condition.share) else f"{condition.share:.2f}"}
            for condition in conditions
        ],
        "differs": [f"{facet}: {words}" for facet, words in reading.differs] if reading else [],
        "reproduced": reproduced_text(entry, judgement),
        "by_placement": [
            f"{name} {number(factor * value)}" for name, value in judgement.by_placement.items() if several
        ],
        "band": band_text(entry, judgement),
        "chance": chance_text(judgement),
        "draws": _draws(judgement),
        "as_given": as_given(judgement),
        "margin": margin,
        "verdict": shown_verdict(judgement),
        "verdict_words": VERDICT_WORDS[shown_verdict(judgement)],
        "direction_words": _direction(entry, judgement),
        "judged_at": _judged_at(reproduction, entry, reading) if reading else "",
        "deciding": deciding_text(judgement),
        "steady": steadiness(reproduction, reading) if reading else "",
        "notes": judgement.notes,
    }  # fmt: skip


def _direction(entry: Judged, judgement: Judgement) -> str:
    """Return the verdict on direction in words, ``none`` if a statement with a number has no condition without it."""
    reading = reading_of(entry, judgement)
    if judgement.direction and numbers_of(entry.claim) and reading is not None and reading.direction is None:
        return "none"
    return VERDICT_WORDS.get(judgement.direction, "")


def _reason(reproduction: Reproduction, entry: Judged) -> str:
    """Return why a statement is not decidable, or which premise of it fails; empty for other verdicts."""
    if entry.judgement.verdict == "not_decidable":
        return why_undecidable(entry.claim.id)
    reading = reading_of(entry, entry.judgement)
    if reading is None or not entry.judgement.premise_fails:
        return ""
    premises = (other.claim.statement for other in reproduction.judged if other.claim.id == reading.needs)
    return "".join(f'Its premise does not hold: "{statement}".' for statement in premises)


def _judged_at(reproduction: Reproduction, entry: Judged, reading: Reading) -> str:
    """Return the only points of a figure's axis that count for a reading.

    The text is empty if all points count, if the reading has another axis, and if the primary reading has the same
    points.
    """
    figure, condition, first = entry.figure, reading.conditions[0], entry.predicate.readings[0]
    effort = reproduction.plan.effort(figure)
    low, high = condition.between
    every = {x for x in (figure.x_of(x, effort) for x in effort.xs) if low <= float(x) <= high}
    if not set(condition.over) < every or (reading != first and condition.over == first.conditions[0].over):
        return ""
    if figure.axis == RANKS:
        return f"{', '.join(str(x) for x in condition.over)} ranks" if condition.over else ""
    return ", ".join(figure.x_text(x, effort) for x in condition.over)


def _draws(judgement: Judgement) -> str:
    if not judgement.draws:
        return ""
    if not math.isfinite(judgement.effective):
        return f"{judgement.draws} draws"
    return f"{judgement.draws} draws; check rows leave the equivalent of {judgement.effective:.0f}"


def steadiness(reproduction: Reproduction, reading: Reading) -> str:
    """Return in words whether a reading's values still move with the length of the run; empty if not tried.

    The text names the value that moves most.
    """
    gathered = reproduction.gathered
    lines: dict[SeriesKey, Line] = {}
    table: dict[SeriesKey, dict[X, float]] = {}
    for (role, _, _), role_table in gathered.tables.items():
        for line, curve in role_table.items() if role == "figure" else ():
            lines[line.key] = line
            table.setdefault(line.key, {}).update(curve)
    asked = points_of(reading, table)
    moves = [
        (abs(moved), spot.line, spot.x, placement) for (placement, spot), moved in gathered.moves.items()
        if (spot.line.key, spot.x) in asked
    ]  # fmt: skip
    if not moves:
        return ""
    most, line, x, placement = max(moves, key=lambda move: (move[0], str(move[1:])))
    word = "converged" if _none_unsteady(moves) else "not converged"
    moved = f"four times the work moves its values by {100 * most:.2f} % at most"
    return f"{word}: {moved} ({describe(line)} at {x}, {placement})"


def _none_unsteady(moves: Sequence[tuple[float, Line, X, str]]) -> bool:
    return all(moved < STEADY for moved, *_ in moves)
