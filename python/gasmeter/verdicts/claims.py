"""What papers state, in our own words: published/claims.csv. Only what judges may read it, never what models."""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass, replace
from pathlib import Path

from gasmeter.choices import BLIND, Blind
from gasmeter.errors import UsageError, unknown

__all__ = ["RESULT", "Claim", "claims", "papers"]

_TABLE = Path(__file__).resolve().parent.parent / "published" / "claims.csv"

RESULT = "result"
"""Kind of the claims that are judged and never an input."""

_FACTOR = 3.0


@dataclass(frozen=True)
class Claim:
    """One statement of a paper.

    Attributes
    ----------
    id, paper, figure : str
        Which, of which paper, where it stands.
    statement : str
        In our own words.
    value, unit : str
        As stated; text where it is no number.
    comparison : str
        ``==``, ``<=``, ``between``, ``ordering`` or ``shape``.
    kind : {"result", "hardware-input", "protocol-constant"}
        Whether it is judged, or what was run.
    """

    id: str
    paper: str
    figure: str
    statement: str
    value: str
    unit: str
    comparison: str
    kind: str

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
    """Return claims in the order of the table.

    Parameters
    ----------
    paper : str, optional
        Only those of one paper.
    kind : str, optional
        Only those of one kind.
    blind : {"removed", "tripled"}, optional
        Leave out the results, or triple their numbers: what a blind run does.

    Returns
    -------
    tuple of Claim
        Statements.

    Raises
    ------
    UsageError
        If there is no such paper or way to blind.
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
    """Return the papers whose claims are known.

    Returns
    -------
    tuple of str
        In the order of the table.
    """
    return tuple(dict.fromkeys(claim.paper for claim in _table()))


def _tripled(claim: Claim) -> Claim:
    try:
        ends = [float(end) * _FACTOR for end in claim.value.split("..")]
    except ValueError:
        return claim
    return replace(claim, value="..".join(f"{end:g}" for end in ends))
