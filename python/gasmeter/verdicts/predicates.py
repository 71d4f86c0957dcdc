"""How claims are judged, by machine: published/predicates.toml, frozen by the digests in its ledger."""

from __future__ import annotations

import functools
import hashlib
import json
import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from gasmeter.choices import Blind
from gasmeter.errors import UsageError
from gasmeter.verdicts.claims import RESULT, claims
from gasmeter.verdicts.expressions import Expression

__all__ = [
    "Condition", "Freeze", "Predicate", "SeriesKey", "frozen", "predicate_problems", "predicates", "predicates_digest",
    "read_predicates",
]  # fmt: skip

_FOLDER = Path(__file__).resolve().parent.parent / "published"
_FACTOR = 3.0
_FIELDS = {
    "tolerance", "rule", "quantity", "holds", "and", "over", "placements", "needs", "undecidable", "suite", "unit",
    "series",
}  # fmt: skip
_SERIES_FIELDS = {"metric", "kernel", "conduit", "variant", "topology", "options", "optional"}


@dataclass(frozen=True)
class SeriesKey:
    """Which line of a figure a series is.

    Attributes
    ----------
    metric, kernel, conduit : str
        Names of the catalogue.
    variant, topology : str
        Empty where it does not matter.
    options : tuple of tuple of str
        Options that the line was asked for, sorted by name; others do not matter.
    """

    metric: str
    kernel: str
    conduit: str
    variant: str = ""
    topology: str = ""
    options: tuple[tuple[str, str], ...] = ()

    def matches(self, line: SeriesKey) -> bool:
        """Return whether a line of a figure is meant.

        Parameters
        ----------
        line : SeriesKey
            All fields filled in.

        Returns
        -------
        bool
            Whether nothing that this names differs.
        """
        same = (self.metric, self.kernel, self.conduit) == (line.metric, line.kernel, line.conduit)
        loose = all(own in {"", other} for own, other in ((self.variant, line.variant), (self.topology, line.topology)))
        return same and loose and set(self.options) <= set(line.options)


@dataclass(frozen=True)
class Condition:
    """A quantity and the intervals, ends included, in one of which it has to lie."""

    quantity: Expression
    holds: tuple[tuple[float, float], ...]

    def holds_for(self, value: float) -> bool:
        """Return whether a value satisfies it.

        Parameters
        ----------
        value : float
            Of the quantity.

        Returns
        -------
        bool
            Whether it lies in one of the intervals.
        """
        return any(low <= value <= high for low, high in self.holds)


@dataclass(frozen=True)
class Predicate:
    """How one claim is judged.

    Attributes
    ----------
    claim : str
        Its id.
    tolerance, rule : str
        For people: what is allowed, of what.
    conditions : tuple of Condition
        All of them have to hold; the first one's quantity is what is reported. Empty if nothing can be judged here.
    series : dict of str to SeriesKey
        What the quantities name.
    optional : frozenset of str
        Series that may be missing.
    over : tuple of int
        x values that must be there; empty for every one that is.
    placements : {"every", "any"}
        On how many placements it has to hold.
    needs : str
        A claim that has to hold first, or empty.
    undecidable : str
        Why nobody can judge it; empty otherwise.
    suite : str
        The conduit on which the conformance suite has to pass; empty otherwise.
    unit : str
        Of the quantity.
    digest : str
        Hash of everything the file says of it.
    """

    claim: str
    tolerance: str
    rule: str
    conditions: tuple[Condition, ...]
    series: Mapping[str, SeriesKey]
    optional: frozenset[str]
    over: tuple[int, ...]
    placements: Literal["every", "any"]
    needs: str
    undecidable: str
    suite: str
    unit: str
    digest: str


def _digest(content: object) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_predicates(text: str) -> dict[str, Predicate]:
    """Return the predicates of a file.

    Parameters
    ----------
    text : str
        TOML.

    Returns
    -------
    dict of str to Predicate
        By id of the claim, in the order written.

    Raises
    ------
    UsageError
        If a field is missing or unknown, or an expression names a series that is not there.
    """
    return {name: _predicate(name, entry) for name, entry in tomllib.loads(text).items()}


def _predicate(name: str, entry: Mapping[str, Any]) -> Predicate:
    where = f"predicates.toml: {name}"
    judged = [key for key in ("quantity", "undecidable", "suite") if key in entry]
    if set(entry) - _FIELDS or not {"tolerance", "rule"} <= set(entry) or len(judged) != 1:
        raise UsageError(
            f"{where}: it has {', '.join(sorted(entry))}; allowed: tolerance, rule, one of quantity, undecidable and"
            f" suite, and of {', '.join(sorted(_FIELDS))}",
            name,
        )
    raw = [entry, *entry.get("and", [])] if "quantity" in entry else []
    conditions = tuple(_condition(part, where) for part in raw)
    series = {key: _series(spec, f"{where}: series {key}") for key, spec in entry.get("series", {}).items()}
    for key in (key for condition in conditions for key in condition.quantity.names):
        if key not in series:
            raise UsageError(f"{where}: there is no series {key!r}; allowed: {', '.join(series)}", key)
    placements = entry.get("placements", "every")
    if placements not in {"every", "any"}:
        raise UsageError(f"{where}: placements {placements!r} is not allowed; allowed: every, any", str(placements))
    return Predicate(
        claim=name,
        tolerance=entry["tolerance"],
        rule=entry["rule"],
        conditions=conditions,
        series=series,
        optional=frozenset(key for key, spec in entry.get("series", {}).items() if spec.get("optional")),
        over=tuple(entry.get("over", ())),
        placements=placements,
        needs=entry.get("needs", ""),
        undecidable=entry.get("undecidable", ""),
        suite=entry.get("suite", ""),
        unit=entry.get("unit", "ratio"),
        digest=_digest([name, entry]),
    )


def _condition(part: Mapping[str, Any], where: str) -> Condition:
    intervals = tuple((float(low), float(high)) for low, high in part.get("holds", ()))
    if not intervals or any(math.isnan(low + high) and not math.isinf(low) for low, high in intervals):
        raise UsageError(f"{where}: quantity {part.get('quantity')!r} has no interval; allowed: holds = [[low, high]]")
    return Condition(Expression(part["quantity"]), intervals)


def _series(spec: Mapping[str, Any], where: str) -> SeriesKey:
    if set(spec) - _SERIES_FIELDS or not {"metric", "kernel", "conduit"} <= set(spec):
        raise UsageError(f"{where} has {', '.join(sorted(spec))}; allowed: {', '.join(sorted(_SERIES_FIELDS))}")
    options = tuple(sorted((str(key), str(value)) for key, value in spec.get("options", {}).items()))
    return SeriesKey(
        spec["metric"], spec["kernel"], spec["conduit"], spec.get("variant", ""), spec.get("topology", ""), options
    )


@functools.cache
def _installed() -> Mapping[str, Predicate]:
    return read_predicates((_FOLDER / "predicates.toml").read_text(encoding="utf-8"))


def predicates(*, blind: Blind | None = None) -> dict[str, Predicate]:
    """Return every installed predicate.

    Parameters
    ----------
    blind : {"removed", "tripled"}, optional
        What a blind run does: without the predicates, or with their intervals tripled.

    Returns
    -------
    dict of str to Predicate
        By id of the claim.
    """
    if blind == "removed":
        return {}
    if blind == "tripled":
        return {name: _tripled(predicate) for name, predicate in _installed().items()}
    return dict(_installed())


def _tripled(predicate: Predicate) -> Predicate:
    wider = tuple(
        replace(one, holds=tuple((low * _FACTOR, high * _FACTOR) for low, high in one.holds))
        for one in predicate.conditions
    )
    return replace(predicate, conditions=wider, tolerance=f"tripled: {predicate.tolerance}")


def predicates_digest(installed: Iterable[Predicate] | None = None) -> str:
    """Return the hash of predicates, as it stands in every report.

    Parameters
    ----------
    installed : iterable of Predicate, optional
        Those of the installed file by default.

    Returns
    -------
    str
        16 hexadecimal digits.
    """
    chosen = _installed().values() if installed is None else installed
    return _digest({predicate.claim: predicate.digest for predicate in chosen})


@dataclass(frozen=True)
class Freeze:
    """One line of the predicates' ledger.

    Attributes
    ----------
    claim, date, digest : str
        Which predicate had which digest from when on.
    reason : str
        Why it was written or changed.
    verdicts : tuple of str
        Claims whose verdict flipped with it.
    """

    claim: str
    date: str
    digest: str
    reason: str
    verdicts: tuple[str, ...]


def frozen(text: str | None = None) -> tuple[Freeze, ...]:
    """Return every line of the predicates' ledger.

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
    source = (_FOLDER / "predicates_ledger.toml").read_text(encoding="utf-8") if text is None else text
    names = ["claim", "date", "digest", "reason", "verdicts"]
    lines = []
    for number, entry in enumerate(tomllib.loads(source).get("line", []), 1):
        if set(entry) != set(names):
            wrong = ", ".join(sorted(set(entry) ^ set(names)))
            raise UsageError(f"predicates_ledger.toml: line {number} lacks or does not know {wrong}", wrong)
        lines.append(Freeze(**{**entry, "date": str(entry["date"]), "verdicts": tuple(entry["verdicts"])}))
    return tuple(lines)


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
    own = _installed() if installed is None else installed
    newest = {line.claim: line.digest for line in lines}
    problems = [
        f"predicate {name} has digest {predicate.digest}, the last line of predicates_ledger.toml"
        f" {newest.get(name, 'none')}; allowed: a line for each change (claim, date, digest, reason, verdicts)"
        for name, predicate in own.items()
        if newest.get(name) != predicate.digest
    ]
    problems.extend(f"predicate {name} stands in the ledger but is gone" for name in newest if name not in own)
    results = {claim.id for claim in claims(kind=RESULT)}
    problems.extend(f"claim {name} has no predicate" for name in sorted(results - set(own)))
    problems.extend(f"predicate {name} has no claim" for name in own if name not in results)
    return problems
