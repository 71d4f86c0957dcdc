"""What decides is frozen: the ledger of predicates and of each paper's method, published/predicates_ledger.toml."""

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
"""Prefix of the ledger's lines that freeze all that decides of one paper; see `gasmeter.reproduction.frozen`."""

_SEEN = ("before", "after")


@dataclass(frozen=True)
class Freeze:
    """One line of the ledger.

    Attributes
    ----------
    claim : str
        A claim's id, or ``method of PAPER``.
    date, digest : str
        From when on it had which digest.
    result : {"before", "after"}
        Whether it was written before or after a result had been seen that it decides.
    reason : str
        Why it was written or changed.
    verdicts : tuple of str
        Claims whose verdict flipped with it.
    """

    claim: str
    date: str
    digest: str
    result: Literal["before", "after"]
    reason: str
    verdicts: tuple[str, ...]


def frozen(text: str | None = None) -> tuple[Freeze, ...]:
    """Return every line of the ledger.

    Parameters
    ----------
    text : str, optional
        TOML; the installed ledger by default.

    Returns
    -------
    tuple of Freeze
        In the order written.

    Raises
    ------
    UsageError
        If a line lacks a field or has another one.
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
    """Return where predicates, their ledger and the claims disagree.

    Parameters
    ----------
    lines : iterable of Freeze
        The ledger.
    installed : mapping of str to Predicate, optional
        The installed predicates by default.

    Returns
    -------
    list of str
        One line each; empty if every predicate is frozen as it stands and every result claim has one.
    """
    own = predicates() if installed is None else installed
    newest = {line.claim: line.digest for line in lines if not line.claim.startswith(METHOD)}
    problems = [
        f"predicate {name} has digest {predicate.digest}, the last line of predicates_ledger.toml"
        f" {newest.get(name, 'none')}; allowed: a line for each change (claim, date, digest, result, reason, verdicts)"
        for name, predicate in own.items()
        if newest.get(name) != predicate.digest
    ]
    problems.extend(f"predicate {name} stands in the ledger but is gone" for name in newest if name not in own)
    results = {claim.id for claim in claims(kind=RESULT)}
    problems.extend(f"claim {name} has no predicate" for name in sorted(results - set(own)))
    problems.extend(f"predicate {name} has no claim" for name in own if name not in results)
    return problems


def method_problems(lines: Iterable[Freeze], digests: Mapping[str, str]) -> list[str]:
    """Return the papers whose method is not frozen as it stands.

    Parameters
    ----------
    lines : iterable of Freeze
        The ledger.
    digests : mapping of str to str
        By name of a paper, the digest of all that decides its verdicts.

    Returns
    -------
    list of str
        One line each.
    """
    newest = {line.claim: line.digest for line in lines}
    return [
        f"what decides paper {name} has digest {digest}, the last line of predicates_ledger.toml"
        f" {newest.get(METHOD + name, 'none')}; allowed: a line for each change"
        for name, digest in digests.items()
        if newest.get(METHOD + name) != digest
    ]
