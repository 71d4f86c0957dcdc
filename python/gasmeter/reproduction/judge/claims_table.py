"""claims.csv: one row per reading of every claim, the primary one first."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from gasmeter.reproduction.judge.judged import Judged
from gasmeter.rows.formats import to_csv
from gasmeter.verdicts.judging import Judgement
from gasmeter.verdicts.predicates import Reading

__all__ = ["CLAIM_COLUMNS", "claim_rows", "claims_csv", "deciding_text", "interval_text"]

CLAIM_COLUMNS = (
    "id", "paper", "figure", "what", "published", "reproduced", "unit", "tolerance", "label", "verdict",
    "deciding_parameter", "note", "reading", "direction", "p_prior", "p_conditioned", "margin", "quantity",
)  # fmt: skip
"""Columns of claims.csv, in order."""
_DIGITS = 12


def interval_text(judgement: Judgement) -> str:
    """Return the range of 90 % of the draws' weight, for instance ``1.2 to 3.4``; empty without draws."""
    return "" if math.isnan(judgement.low) else f"{judgement.low:.4g} to {judgement.high:.4g}"


def deciding_text(judgement: Judgement) -> str:
    """Return the estimates that a quantity follows, with rank correlations: ``extoll: link.buffer (+0.61)``."""
    return ", ".join(f"{name} ({by:+.2f})" for name, by in judgement.deciding)


def claim_rows(judged: Iterable[Judged]) -> list[dict[str, Any]]:
    """Return the rows of claims.csv, with `CLAIM_COLUMNS`."""
    rows = []
    for entry in judged:
        readings = {reading.name: reading for reading in entry.predicate.readings}
        rows += [_row(entry, judgement, readings.get(judgement.reading)) for judgement in entry.readings]
    return rows


def _row(entry: Judged, judgement: Judgement, reading: Reading | None) -> dict[str, Any]:
    has_value = not math.isnan(judgement.value)
    notes = [f"band {interval_text(judgement)}" if interval_text(judgement) else ""]
    if len(judgement.by_placement) > 1:
        notes.append(", ".join(f"{name} {value:.4g}" for name, value in judgement.by_placement.items()))
    if judgement.draws:
        notes.append(f"{judgement.draws} draws, worth {judgement.effective:.0f}")
    return {
        "id": entry.claim.id,
        "paper": entry.claim.paper,
        "figure": entry.claim.figure,
        "what": entry.claim.statement,
        "published": entry.claim.published,
        "reproduced": _rounded(judgement.value),
        "unit": entry.predicate.unit if has_value else "",
        "tolerance": reading.tolerance if reading else "",
        "label": entry.label if has_value else "",
        "verdict": judgement.verdict,
        "deciding_parameter": deciding_text(judgement),
        "note": "; ".join(note for note in [*notes, *judgement.notes] if note),
        "reading": judgement.reading,
        "direction": judgement.direction,
        "p_prior": _rounded(judgement.p_prior),
        "p_conditioned": _rounded(judgement.p_conditioned),
        "margin": _rounded(judgement.margin),
        "quantity": entry.predicate.on,
    }


def _rounded(value: float) -> float:
    """Return a value without its last digits, in which fits depend on the processor."""
    return float(f"{value:.{_DIGITS}g}")


def claims_csv(judged: Iterable[Judged]) -> str:
    """Return claims.csv with a header."""
    return to_csv(claim_rows(judged), CLAIM_COLUMNS)
