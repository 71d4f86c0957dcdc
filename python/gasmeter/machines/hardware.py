"""Published facts behind the machines: value, source, and the claims that had touched them beforehand."""

from __future__ import annotations

import csv
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gasmeter.errors import unknown

__all__ = ["TABLE", "Fact", "facts", "tainted_by"]

TABLE = "python/gasmeter/published/hardware.csv"
"""Place of the facts, for messages."""

_TABLE = Path(__file__).resolve().parent.parent / "published" / "hardware.csv"


@dataclass(frozen=True)
class Fact:
    """A row of published/hardware.csv."""

    id: str  # machine files name the row by it
    network: str
    parameter: str
    value: str  # as published
    unit: str  # as published
    source: str  # publication of the value, or the way it was estimated
    confidence: str  # read in the source, secondary, or recalled or estimated
    tainted_by: tuple[str, ...]  # claims (results of a paper) that touched its value, sign or bound


@functools.cache
def facts() -> Mapping[str, Fact]:
    """Return every fact that a machine file may name, by id, in the order of the table."""
    with _TABLE.open(encoding="utf-8", newline="") as file:
        rows = [{key: (text or "").strip() for key, text in row.items()} for row in csv.DictReader(file)]
    return {
        row["id"]: Fact(
            **{key: text for key, text in row.items() if key != "tainted_by"},
            tainted_by=tuple(claim.strip() for claim in row["tainted_by"].split(";") if claim.strip()),
        )
        for row in rows
    }


def tainted_by(ids: Iterable[str]) -> frozenset[str]:
    """Return the ids of claims that touched any of the facts; raise UsageError for an unknown fact."""
    by_id = facts()
    claims: set[str] = set()
    for name in ids:
        if name not in by_id:
            raise unknown("hardware fact", name, by_id, TABLE)
        claims.update(by_id[name].tainted_by)
    return frozenset(claims)
