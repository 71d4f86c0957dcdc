"""Statements of papers in our own words: published/claims.csv. Code that judges may read them, models never do."""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass, replace
from pathlib import Path

from gasmeter.arguments.choices import BLIND, Blind
from gasmeter.errors import UsageError, unknown

__all__ = ["RESULT", "Claim", "claims", "papers"]

_TABLE = Path(__file__).resolve().parent.parent / "published" / "claims.csv"

RESULT = "result"
"""Kind of the claims that are judged and never an input of a model."""

_FACTOR = 3.0


@dataclass(frozen=True)
class Claim:
    """One statement of a paper."""

    id: str
    paper: str
    figure: str  # figure, table or section that states it
    statement: str  # in our own words
    value: str  # as stated; text if it is no number
    unit: str
    comparison: str  # ``==``, ``<=``, ``between``, ``ordering`` or ``shape``
    kind: str  # ``result``, ``hardware-input`` or ``protocol-constant``; only results are judged

    @property
    def published(self) -> str:
        """Value and unit in one text."""
        words = self.unit not in {"order", "shape", "name", "bool"}
        return f"{self.value} {self.unit}" if words and self.value[:1].isdigit() else self.value


@functools.cache
def _table() -> tuple[Claim, ...]:
    if not _TABLE.exists():  # an installation without published values
        return ()
    with _TABLE.open(encoding="utf-8", newline="") as file:
        return tuple(Claim(**{key: (text or "").strip() for key, text in row.items()}) for row in csv.DictReader(file))


def claims(paper: str | None = None, *, kind: str | None = None, blind: Blind | None = None) -> tuple[Claim, ...]:
    """Return claims in the order of the table: all, or those of one `paper` and one `kind`.

    `blind` is for blind runs: ``removed`` leaves out the results, ``tripled`` triples their numbers. Raises UsageError
    for an unknown `paper` or `blind`.
    """
    if paper is not None and _table() and paper not in papers():
        raise unknown("paper", paper, papers(), "gasmeter list claims")
    if blind not in {None, *BLIND}:
        raise UsageError(f"blind {blind!r} is not allowed; allowed: {', '.join(BLIND)}", str(blind))
    chosen = [claim for claim in _table() if paper in {None, claim.paper} and kind in {None, claim.kind}]
    if blind == "removed":
        chosen = [claim for claim in chosen if claim.kind != RESULT]
    elif blind == "tripled":
        chosen = [_tripled(claim) if claim.kind == RESULT else claim for claim in chosen]
    return tuple(chosen)


def papers() -> tuple[str, ...]:
    """Return the papers that have claims, in the order of the table."""
    return tuple(dict.fromkeys(claim.paper for claim in _table()))


def _tripled(claim: Claim) -> Claim:
    try:
        ends = [float(end) * _FACTOR for end in claim.value.split("..")]
    except ValueError:
        return claim
    return replace(claim, value="..".join(f"{end:g}" for end in ends))
