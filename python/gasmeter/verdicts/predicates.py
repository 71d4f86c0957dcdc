"""Predicates of claims in a form that programs read: published/predicates.toml, each claim in one to three readings."""

from __future__ import annotations

import functools
import hashlib
import json
import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gasmeter.arguments.choices import Blind
from gasmeter.errors import UsageError
from gasmeter.verdicts.expressions import Expression
from gasmeter.verdicts.series import SeriesKey, X

__all__ = [
    "MOST_READINGS", "Condition", "Predicate", "Reading", "predicates", "predicates_digest", "read_predicates",
]  # fmt: skip

_FILE = Path(__file__).resolve().parent.parent / "published" / "predicates.toml"
_FACTOR = 3.0

MOST_READINGS = 3
"""Most readings of a claim: with more, some would hold by chance."""

_FIELDS = {"on", "unit", "withheld", "undecidable", "suite", "reading"}
_READING_FIELDS = {
    "name", "quote", "rule", "tolerance", "quantity", "holds", "over", "between", "and", "direction", "needs",
    "differs", "ablation", "series",
}  # fmt: skip
_CONDITION_FIELDS = {"quantity", "holds", "over", "between"}
_SERIES_FIELDS = {
    "metric", "kernel", "conduit", "op", "variant", "machine", "overrides", "topology", "placement", "size", "ranks",
    "options", "optional",
}  # fmt: skip


@dataclass(frozen=True)
class Condition:
    """A quantity and the intervals, ends included, in one of which it has to lie."""

    quantity: Expression  # an expression of the reading's series
    holds: tuple[tuple[float, float], ...]  # the intervals
    over: tuple[X, ...] = ()  # the only x values that count, all required; empty: all that were run
    between: tuple[float, float] = (-math.inf, math.inf)  # interval of the x values that count

    def holds_for(self, value: float) -> bool:
        """Return whether a value of the quantity lies in one of the intervals."""
        return any(low <= value <= high for low, high in self.holds)

    def margin(self, value: float) -> float:
        """Return how far inside its intervals a value of the quantity lies.

        This is the distance to the nearer end of the interval that holds the value most deeply; below 0 outside all
        intervals.
        """
        return max(min(value - low, high - value) for low, high in self.holds)


@dataclass(frozen=True)
class Reading:
    """One way to read a claim, in the paper's own words."""

    name: str  # for people
    quote: str  # the paper's words that it rests on
    rule: str  # the quantity in words
    tolerance: str  # the allowed values in words
    conditions: tuple[Condition, ...]  # all have to hold; reports show the quantity of the first one
    direction: Condition | None  # the statement without its number; None: the conditions have no number
    series: Mapping[str, SeriesKey]  # lines that the quantities name
    optional: frozenset[str] = frozenset()  # series that may be missing
    needs: str = ""  # claim whose first reading has to hold on the same case; empty for none
    # Differences between the programs of its series, with the paper's words: `gasmeter.reproduction.judge.facets`
    differs: tuple[tuple[str, str], ...] = ()
    # Name of the paper's mechanism that is taken away to see whether the statement holds by construction
    ablation: str = ""

    @property
    def every_condition(self) -> tuple[Condition, ...]:
        """The conditions, and the direction behind them."""
        return (*self.conditions, *([self.direction] if self.direction else []))


@dataclass(frozen=True)
class Predicate:
    """The rule by which one claim is judged."""

    claim: str  # id of the claim
    on: str  # independent quantity that the claim rests on; scores count it once
    unit: str  # unit of the quantity
    # The first is the primary one, whose verdict is the claim's; empty if nothing can be judged here
    readings: tuple[Reading, ...]
    withheld: str  # fact that the paper does not publish, without which its program cannot be run; empty for none
    undecidable: str  # why nobody can judge it; empty if somebody can
    suite: str  # conduit on which the conformance suite has to pass; empty for none
    digest: str  # hash of everything the file says of the claim


def _digest(content: object) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_predicates(text: str) -> dict[str, Predicate]:
    """Return the predicates of a TOML text by id of the claim, in the order written.

    Raises UsageError if a field is missing or unknown, a reading has no quote, or an expression names an unknown
    series.
    """
    return {name: _predicate(name, _inherited(entry)) for name, entry in tomllib.loads(text).items()}


def _inherited(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give every reading the fields of the first one that it lacks; an empty field takes one away."""
    if not entry.get("reading"):
        return entry
    first, *others = entry["reading"]
    full = [{key: part for key, part in {**first, **other}.items() if part or key not in first} for other in others]
    return {**entry, "reading": [first, *full]}


def _predicate(name: str, entry: Mapping[str, Any]) -> Predicate:
    where = f"predicates.toml: {name}"
    judged = [key for key in ("reading", "undecidable", "suite") if key in entry]
    if set(entry) - _FIELDS or len(judged) != 1:
        raise UsageError(
            f"{where}: it has {', '.join(sorted(entry))}; allowed: one of reading, undecidable and suite, and of"
            f" {', '.join(sorted(_FIELDS))}",
            name,
        )
    readings = tuple(_reading(part, where) for part in entry.get("reading", []))
    if len(readings) > MOST_READINGS or len({reading.name for reading in readings}) < len(readings):
        raise UsageError(
            f"{where}: {len(readings)} readings ({', '.join(reading.name for reading in readings)}); allowed: 1 to"
            f" {MOST_READINGS}, each with a name of its own",
            name,
        )
    return Predicate(
        name, entry.get("on", name), entry.get("unit", "ratio"), readings, entry.get("withheld", ""),
        entry.get("undecidable", ""), entry.get("suite", ""), _digest([name, entry]),
    )  # fmt: skip


def _reading(entry: Mapping[str, Any], where: str) -> Reading:
    place = f"{where}: reading {entry.get('name', '?')!r}"
    needed = {"name", "quote", "rule", "tolerance", "quantity", "holds", "series"}
    if set(entry) - _READING_FIELDS or needed - set(entry):
        wrong = [*sorted(set(entry) - _READING_FIELDS), *(f"no {key}" for key in sorted(needed - set(entry)))]
        raise UsageError(f"{place}: {', '.join(wrong)}; allowed: {', '.join(sorted(_READING_FIELDS))}", wrong[0])
    if not str(entry["quote"]).strip():
        raise UsageError(f"{place}: its quote is empty; allowed: the paper's own words", "quote")
    series = {key: _series(spec, f"{place}: series {key}") for key, spec in entry["series"].items()}
    first = {key: part for key, part in entry.items() if key in _CONDITION_FIELDS}
    shared: dict[str, Any] = {key: first[key] for key in ("over", "between") if key in first}
    conditions = tuple(_condition({**shared, **part}, place) for part in (first, *entry.get("and", [])))
    direction = _condition({**shared, **entry["direction"]}, place) if "direction" in entry else None
    reading = Reading(
        entry["name"], entry["quote"], entry["rule"], entry["tolerance"], conditions, direction, series,
        frozenset(key for key, spec in entry["series"].items() if spec.get("optional")), entry.get("needs", ""),
        tuple(sorted((str(key), str(words)) for key, words in entry.get("differs", {}).items())),
        str(entry.get("ablation", "")),
    )  # fmt: skip
    for key in (key for condition in reading.every_condition for key in condition.quantity.names):
        if key not in series:
            raise UsageError(f"{place}: there is no series {key!r}; allowed: {', '.join(series)}", key)
    for facet, words in reading.differs:
        if not words.strip():
            raise UsageError(f"{place}: differs in {facet} without words of the paper; allowed: a quote", facet)
    return reading


def _condition(part: Mapping[str, Any], where: str) -> Condition:
    if set(part) - _CONDITION_FIELDS or "quantity" not in part:
        raise UsageError(
            f"{where}: a condition has {', '.join(sorted(part))}; allowed: {', '.join(sorted(_CONDITION_FIELDS))}"
        )
    intervals = tuple((float(low), float(high)) for low, high in part.get("holds", ()))
    if not intervals or any(not low <= high for low, high in intervals):
        raise UsageError(f"{where}: quantity {part['quantity']!r} has no interval; allowed: holds = [[low, high]]")
    low, high = part.get("between", (-math.inf, math.inf))
    return Condition(Expression(part["quantity"]), intervals, tuple(part.get("over", ())), (float(low), float(high)))


def _series(spec: Mapping[str, Any], where: str) -> SeriesKey:
    if set(spec) - _SERIES_FIELDS or not {"metric", "kernel", "conduit"} <= set(spec):
        raise UsageError(f"{where} has {', '.join(sorted(spec))}; allowed: {', '.join(sorted(_SERIES_FIELDS))}")
    given: dict[str, Any] = {
        key: spec[key] for key in ("op", "variant", "machine", "topology", "placement") if key in spec
    }
    given |= {key: int(spec[key]) for key in ("size", "ranks") if key in spec}
    return SeriesKey(
        spec["metric"], spec["kernel"], spec["conduit"], **given,
        overrides=_pairs(spec.get("overrides", {})), options=_pairs(spec.get("options", {})),
    )  # fmt: skip


def _pairs(given: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((str(key), str(value)) for key, value in given.items()))


@functools.cache
def _installed() -> Mapping[str, Predicate]:
    # An installation without published values runs every figure and judges none.
    return read_predicates(_FILE.read_text(encoding="utf-8")) if _FILE.exists() else {}


def predicates(*, blind: Blind | None = None) -> dict[str, Predicate]:
    """Return every installed predicate by id of the claim.

    `blind` is for blind runs: ``removed`` returns none, ``tripled`` triples the intervals.
    """
    if blind == "removed":
        return {}
    if blind == "tripled":
        return {name: _tripled(predicate) for name, predicate in _installed().items()}
    return dict(_installed())


def _tripled(predicate: Predicate) -> Predicate:
    def wider(condition: Condition) -> Condition:
        return replace(condition, holds=tuple((low * _FACTOR, high * _FACTOR) for low, high in condition.holds))

    readings = tuple(
        replace(
            reading, conditions=tuple(map(wider, reading.conditions)), tolerance=f"tripled: {reading.tolerance}",
            direction=wider(reading.direction) if reading.direction else None,
        )
        for reading in predicate.readings
    )  # fmt: skip
    return replace(predicate, readings=readings)


def predicates_digest(chosen: Iterable[Predicate] | None = None) -> str:
    """Return the hash of predicates that stands in every report: 16 hexadecimal digits.

    By default all installed predicates count.
    """
    return _digest(
        {predicate.claim: predicate.digest for predicate in (_installed().values() if chosen is None else chosen)}
    )
