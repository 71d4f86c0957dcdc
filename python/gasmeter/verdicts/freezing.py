"""The ledger of predicates and of each paper's method (published/predicates_ledger.toml), and its check."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gasmeter.errors import UsageError
from gasmeter.verdicts.claims import RESULT, claims
from gasmeter.verdicts.predicates import Predicate, predicates

__all__ = ["METHOD", "Freeze", "frozen", "method_problems", "predicate_problems"]

_FILE = Path(__file__).resolve().parent.parent / "published" / "predicates_ledger.toml"

METHOD = "method of "
"""Prefix of the ledger's lines about the whole method of one paper; see `gasmeter.reproduction.frozen`."""

_SEEN = ("before", "after")


@dataclass(frozen=True)
class Freeze:
    """One line of the ledger."""

    claim: str  # a claim's id, or ``method of PAPER``
    date: str  # first day of the digest
    digest: str
    result: Literal["before", "after"]  # whether the line was written before or after its result had been seen
    reason: str  # why the predicate was written or changed
    verdicts: tuple[str, ...]  # claims whose verdict changed with it


def frozen(text: str | None = None) -> tuple[Freeze, ...]:
    """Return every line of a TOML ledger, by default the installed one, in the order written.

    Raises UsageError if a line lacks a field or has an unknown one.
    """
    names = ["claim", "date", "digest", "result", "reason", "verdicts"]
    lines = []
    for number, entry in enumerate(tomllib.loads(_text() if text is None else text).get("line", []), 1):
        if set(entry) != set(names):
            wrong = ", ".join(sorted(set(entry) ^ set(names)))
            raise UsageError(f"predicates_ledger.toml: line {number} lacks or does not know {wrong}", wrong)
        if entry["result"] not in _SEEN:
            raise UsageError(
                f"predicates_ledger.toml: line {number}: result {entry['result']!r}; allowed: before, after",
                str(entry["result"]),
            )
        lines.append(Freeze(**{**entry, "date": str(entry["date"]), "verdicts": tuple(entry["verdicts"])}))
    return tuple(lines)


def _text() -> str:
    return _FILE.read_text(encoding="utf-8") if _FILE.exists() else ""


def predicate_problems(lines: Iterable[Freeze], installed: Mapping[str, Predicate] | None = None) -> list[str]:
    """Return a line for each difference between predicates, their ledger and the claims.

    By default the installed predicates are compared. The list is empty if the last line of every predicate has its
    digest, and every result claim has a predicate.
    """
    current = predicates() if installed is None else installed
    newest = {line.claim: line.digest for line in lines if not line.claim.startswith(METHOD)}
    problems = [
        f"predicate {name} has digest {predicate.digest}, the last line of predicates_ledger.toml"
        f" {newest.get(name, 'none')}; allowed: a line for each change (claim, date, digest, result, reason, verdicts)"
        for name, predicate in current.items()
        if newest.get(name) != predicate.digest
    ]
    problems.extend(f"predicate {name} stands in the ledger but is gone" for name in newest if name not in current)
    results = {claim.id for claim in claims(kind=RESULT)}
    problems.extend(f"claim {name} has no predicate" for name in sorted(results - set(current)))
    problems.extend(f"predicate {name} has no claim" for name in current if name not in results)
    return problems


def method_problems(lines: Iterable[Freeze], digests: Mapping[str, str]) -> list[str]:
    """Return a line for each paper whose method has another digest than its last line in the ledger.

    `digests` holds the digest of each method by name of the paper.
    """
    newest = {line.claim: line.digest for line in lines}
    return [
        f"what decides paper {name} has digest {digest}, the last line of predicates_ledger.toml"
        f" {newest.get(METHOD + name, 'none')}; allowed: a line for each change"
        for name, digest in digests.items()
        if newest.get(METHOD + name) != digest
    ]
